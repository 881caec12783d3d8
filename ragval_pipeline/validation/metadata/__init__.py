"""Does every point hold the metadata that readers rely on? Four levels: present, non-empty, type, rule."""
