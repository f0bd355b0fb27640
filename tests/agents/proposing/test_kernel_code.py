"""Kernels in texts: found, replaced with what else they need, imported; and what a new one may hold."""

from __future__ import annotations

import pytest
from tests.agents.kernel_library import ADD_UP, FAST, HEAD, KERNELS, SOURCE

from dga2d.agents.proposing.errors import ProposalError
from dga2d.agents.proposing.kernel_answers import parse_kernel
from dga2d.agents.proposing.kernel_code import holds_kernel, inline_kernels, replace_kernel
from dga2d.domains.source_rules import check_source

ADD, MEAN = KERNELS[0].source, KERNELS[1].source
TEXTS = {kernel.id: kernel.source for kernel in KERNELS}
HOST = SOURCE.format(name="x", top=9)
RUN = "\n\ndef run(env_data, state, calc_makespan_fn):\n    return state\n"


def test_a_text_holds_a_kernel_that_stands_there_with_all_it_needs() -> None:
    assert holds_kernel(HOST, ADD, "add_up")
    assert holds_kernel(HOST, MEAN, "mean_of")
    other = HOST.replace("total += values[i]", "total += 2 * values[i]")
    assert not holds_kernel(other, ADD, "add_up")
    assert not holds_kernel(other, MEAN, "mean_of")
    assert holds_kernel(HOST.replace("# ", "#  ").replace("total = 0", "total  =  0"), ADD, "add_up")
    assert not holds_kernel(
        HOST.replace("from numba import njit", "from functools import cache as njit"), ADD, "add_up"
    )
    assert not holds_kernel("X = 1\n", ADD, "add_up")


def test_a_replaced_kernel_brings_its_helpers_and_takes_the_old_ones_with_it() -> None:
    changed = replace_kernel(HOST, ADD, FAST, "add_up")
    assert check_source(changed) == ()
    assert holds_kernel(changed, FAST, "add_up")
    assert ADD_UP not in changed
    assert changed.count("def add_up(") == changed.count("def add_up_step(") == 1
    assert changed.count("import numpy as np") == 1
    back = replace_kernel(changed, FAST, ADD, "add_up")
    assert "add_up_step" not in back
    assert "add_up_START" not in back
    assert holds_kernel(back, MEAN, "mean_of")
    assert back == HOST


def test_a_helper_that_others_use_stays() -> None:
    used = HOST.replace("    return state", "    add_up(values, sums)\n    return state")
    changed = replace_kernel(
        used,
        MEAN,
        MEAN.split("\n\n\n")[0] + "\n\n\n@njit\ndef mean_of(values, sums):\n    return 0.0\n",
        "mean_of",
    )
    assert ADD_UP in changed
    alone = replace_kernel(
        HOST, MEAN, f"{HEAD}\n\n@njit\ndef mean_of(values, sums):\n    return 0.0\n", "mean_of"
    )
    assert "def add_up" not in alone


def test_a_missing_import_goes_to_the_others_and_comments_above_a_kernel_leave_with_it() -> None:
    host = '"""Text."""\n\nfrom numba import njit\n\n\n# a remark\n@njit\ndef k(x):\n    return x\n' + RUN
    new = "import math\nfrom numba import njit\n\n\n@njit\ndef k(x):\n    return math.floor(x)\n"
    changed = replace_kernel(host, "from numba import njit\n\n\n@njit\ndef k(x):\n    return x\n", new, "k")
    assert changed.startswith('"""Text."""\n\nimport math\nfrom numba import njit\n')
    assert "remark" not in changed


def test_a_name_that_means_something_else_is_refused() -> None:
    host = HOST.replace('NAME = "x"', "add_up_START = 7")
    with pytest.raises(ProposalError, match="add_up_START is bound to something else"):
        replace_kernel(host, ADD, FAST, "add_up")


# ---------------------------------------------------------------- imports


def test_an_import_is_replaced_by_the_kernels_text() -> None:
    text = f'"""Idea."""\nfrom kernels import mean_of, add_up\n\nN = 3\n{RUN}'
    found = inline_kernels(text, TEXTS)
    assert check_source(found) == ()
    assert "from kernels" not in found
    assert found.startswith('"""Idea."""\n')
    assert found.count("def add_up(") == 1
    assert holds_kernel(found, MEAN, "mean_of")
    assert inline_kernels(RUN, TEXTS) == RUN
    assert inline_kernels(f"kernels = 3\n{RUN}", TEXTS) == f"kernels = 3\n{RUN}"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("import kernels", "write from kernels import NAME"),
        ("from kernels import other", "there is no kernel 'other'; there are: add_up, mean_of"),
        ("from kernels import add_up as plus", "keeps its name"),
        (
            "from kernels import add_up\n\n\ndef add_up(a):\n    return a\n",
            "add_up is bound to something else",
        ),
        ("from kernels import *", "there is no kernel '*'"),
    ],
)
def test_other_imports_of_kernels_are_refused_with_their_reason(line: str, words: str) -> None:
    with pytest.raises(ProposalError) as caught:
        inline_kernels(f"{line}\n{RUN}", TEXTS)
    assert caught.value.stage == "kernels"
    assert words in caught.value.diagnostic


def test_without_kernels_an_import_of_one_is_refused() -> None:
    with pytest.raises(ProposalError, match="there are: none"):
        inline_kernels(f"from kernels import add_up\n{RUN}", {})


# ---------------------------------------------------------------- what an answer may hold


def answer(code: str) -> str:
    return f"```python\n{code}```\n"


def test_an_answer_gives_its_text() -> None:
    assert parse_kernel(answer(FAST), ADD, "add_up") == FAST


BODY = f"{HEAD}\n\n@njit(cache=True)\ndef add_up(values, sums):\n    {{}}\n    return values[0]\n"


@pytest.mark.parametrize(
    ("code", "stage"),
    [
        (BODY.format("import os"), "kernel_rules"),
        (BODY.format("sums.flags.writeable = False"), "kernel_rules"),
        (BODY.format("np.random.seed(1)"), "kernel_rules"),
        (BODY.format("sums.tofile(3)"), "kernel_rules"),
        (BODY.format("print(sums)"), "kernel_rules"),
        (BODY.format("eval(3)"), "kernel_rules"),
        (BODY.format("KERNEL_CALLS[0] = 300"), "kernel_rules"),
        (BODY.format("kernel_fault(1)"), "kernel_rules"),
        (BODY.format("np.abs = 3"), "kernel_rules"),
        (BODY.format("np = 3"), "kernel_rules"),
        (BODY.format("global total"), "kernel_rules"),
        (BODY.format("x = lambda: 3"), "kernel_rules"),
        (BODY.format("x = [i for i in values]"), "kernel_rules"),
        (BODY.format("raise values"), "kernel_rules"),
        (BODY.format("x = 'text'"), "kernel_rules"),
        (BODY.format("values(3)"), "kernel_rules"),
        (BODY.format("add_up.calls = 3"), "kernel_rules"),
        (BODY.format("x = add_up"), "kernel_rules"),
        (BODY.format("x = (lambda: 3)()"), "kernel_rules"),
        (BODY.format("pass") + "\nSTATE = np.zeros(3)\n", "kernel_rules"),
        (BODY.format("pass") + "\nadd_up_STATE = np.zeros(3)\n", "kernel_rules"),
        (BODY.format("pass") + "\n@njit\ndef other(x):\n    return x\n", "kernel_rules"),
        (BODY.format("pass") + "\nadd_up(1, 2)\n", "kernel_rules"),
        (BODY.format("pass").replace("@njit(cache=True)", "@njit(fastmath=True)"), "kernel_rules"),
        (BODY.format("pass").replace("@njit(cache=True)\n", ""), "kernel_rules"),
        (BODY.format("pass").replace("(values, sums)", "(values, sums=3)"), "signature"),
        (BODY.format("pass").replace("add_up", "add_down"), "kernel_rules"),
        (ADD.replace("total", "found"), "duplicate"),
        (f"{ADD}\n# {'x' * 20_000}\n", "size"),
        ("def add_up(:\n", "syntax"),
    ],
)
def test_a_kernel_that_could_reach_more_than_its_arguments_is_refused(code: str, stage: str) -> None:
    with pytest.raises(ProposalError) as caught:
        parse_kernel(answer(code), ADD, "add_up")
    assert caught.value.stage == stage


def test_no_change_is_an_answer() -> None:
    with pytest.raises(ProposalError) as caught:
        parse_kernel("NO_CHANGE\n", ADD, "add_up")
    assert caught.value.stage == "no_change"
