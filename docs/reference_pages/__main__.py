"""``python -m reference_pages`` in `docs/`: what `make reference` runs."""

from reference_pages.pages import write

write()
