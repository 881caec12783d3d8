"""One page of HTML: its text, its headings, and what it says about itself."""
