"""What a problem is called in full is read from its text, and says what its card says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from dga2d.domains.core.errors import PluginClashError
from dga2d.domains.core.plugins import use_domain_path, use_problem_file
from dga2d.domains.core.registry import domain_names, get_domain
from dga2d.domains.core.titles import domain_title

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize("name", domain_names())
def test_the_title_of_a_domain_is_that_of_its_card(name: str) -> None:
    assert domain_title(name) == get_domain(name).card.title


@pytest.mark.parametrize("file", ["circles.py", "facilities.py", "tardiness.py"])
def test_the_title_of_a_problem_in_one_file_is_the_first_line_of_its_docstring(file: str) -> None:
    name = use_problem_file(EXAMPLES / file)
    assert domain_title(name) == get_domain(name).card.title


def test_titles_are_read_without_importing_a_domain() -> None:
    program = (
        "import sys; from dga2d.domains.core.titles import domain_title\n"
        "assert domain_title('jsp') == 'Job Shop Scheduling Problem (JSP)'\n"
        "assert not {'numba', 'dga2d.domains.jsp'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-P", "-c", program], check=True, timeout=30)


@pytest.mark.parametrize(
    ("card", "title"),
    [
        ("CARD = Card(title='Knots', objective='none')", "Knots"),
        ("CARD = contract.Card(title='Knots')", "Knots"),
        ("CARD = Card(title=made_up())", None),
        ("CARD = Card(", None),
        ("CARDS = [Card(title='one'), Card(title='two')]", None),
        ("import sys; sys.exit('imported')", None),
    ],
)
def test_a_package_on_the_domain_path_is_read_and_not_run(
    card: str, title: str | None, tmp_path: Path
) -> None:
    package = tmp_path / "knots"
    package.mkdir()
    (package / "__init__.py").write_text("DOMAIN = None\n", encoding="utf-8")
    (package / "card.py").write_text(card, encoding="utf-8")
    use_domain_path([tmp_path])
    try:
        assert domain_title("knots") == title
        (package / "card.py").write_text("CARD = Card(title='Braids')", encoding="utf-8")
        assert domain_title("knots") == "Braids"
    finally:
        use_domain_path([])


def test_what_nobody_knows_has_no_title_and_two_of_a_name_are_refused(tmp_path: Path) -> None:
    assert domain_title("nosuch") is None
    for folder in ("a", "b"):
        (tmp_path / folder / "knots").mkdir(parents=True)
        (tmp_path / folder / "knots" / "__init__.py").write_text("DOMAIN = None\n", encoding="utf-8")
    use_domain_path([tmp_path / "a", tmp_path / "b"])
    try:
        with pytest.raises(PluginClashError):
            domain_title("knots")
    finally:
        use_domain_path([])
