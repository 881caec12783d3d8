"""Files and folders on a disk or an object store, which appear whole or not at all."""
