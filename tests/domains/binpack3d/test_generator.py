"""The published instances of Martello, Pisinger and Vigo are made again."""

from __future__ import annotations

from dga2d.domains.binpack3d.generator import generate_published, published_instances


def test_published_instances_have_the_numbers_of_the_c_library() -> None:
    """``srand48(11)`` and then ``lrand48() % 10 + 1``; classes 1 to 5 draw a type first."""
    assert generate_published(6, 10, 1).item_sizes[:2].tolist() == [[6, 3, 7], [9, 3, 5]]
    mixed = generate_published(1, 10, 1)
    assert mixed.bin_size.tolist() == [100, 100, 100]
    assert ((mixed.item_sizes >= 1) & (mixed.item_sizes <= 100)).all()
    assert len({one.name for one in published_instances() if one.group == "n10"}) == 80
