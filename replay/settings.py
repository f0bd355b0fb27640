"""The settings of a run, with the paper's hyperparameters (Appendix E.1) as defaults; presets change some
(`dga2d.runtime.runs.config`).

They are recorded in ``RunStarted``; every decision reads them from there.
"""

from __future__ import annotations

import math
import re
from typing import Any, Literal, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from dga2d.events.payloads import RaceMove

Structure = Literal["dg", "dag", "linear", "fixed"]
CreditContext = Literal["zero", "first", "second", "full"]

MOVES = frozenset(get_args(RaceMove)) - {"incumbent"}
_MOVES_PATTERN = "^(all|{0}(,{0})*)$".format(f"({'|'.join(sorted(MOVES))})")

_LIMITS_PATTERN = "^({0}(,{0})*)?$".format(r"[0-9]{1,5}(\.[0-9]{1,3})?")

CLUSTER = r"ray(:[^\s:]+:[0-9]{1,5})?"
"""How a Ray cluster is named, as a regular expression."""

MOST_USD = 9e12
"""The store counts millionths of a US dollar in 64 bits."""


class RunSettings(BaseModel):
    """Everything a user can set for a run; keys of the TOML file and names of the flags."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, use_attribute_docstrings=True)

    preset: Literal["default", "paper", "none"] = "none"
    """Where the settings come from that are not given: ``default`` did better in short runs and is taken
    where no preset is named; ``paper`` is exactly the paper. ``none`` stands in logs from before there were
    presets."""
    library: Literal["full", "basic"] = "full"
    """Start from the whole operator library or from its basic tier alone."""
    method: str = Field("dga2d", pattern=r"^[A-Za-z0-9_.:-]{1,100}$")
    """How algorithms are searched for: ``dga2d``, or one that evolves complete programs: ``eoh``, ``reevo``,
    ``mcts-ahd``, ``meoh``, ``tree``, ``random``, or ``MODULE:CLASS`` for one of your own. All but ``dga2d``
    end with their model calls, whatever the number of generations, and take no heed of what concerns graph,
    credits, policy, gate and races."""
    space: str = Field("program", pattern=r"^(program|component(:[a-z][a-z0-9_]{0,39})?)$")
    """What a method other than ``dga2d`` and ``tree`` evolves: the whole ``program``, or ``component``, one
    function within a skeleton of the domain's (``component:NAME`` where it has several)."""
    population: int = Field(0, ge=0)
    """Programs that a method of complete programs works on; 0 for the method's own number."""
    suite: Literal["any", "paper"] = "any"
    """``paper``: exactly the instances of the paper's benchmark, from the files below ``--data`` or made
    again; every file that is missing is named. ``any``: all that are found below ``--data``, or generated."""
    group: str = Field("all", min_length=1)
    """Groups of instances that the run is for, names divided by commas: it trains, validates and tests on
    them alone. ``GROUP/PATTERN`` stands for those of a group's instances whose names match
    (``hurink/edata-*``). ``all``: every group of the domain but those that count only where they are
    named (``dga2d data`` says which)."""
    generations: int = Field(50, ge=1)
    """Number of generations t_max."""
    pipelines: int = Field(4, ge=1)
    """Pipelines sampled per generation, N."""
    batch_size: int = Field(3, ge=1)
    """Training instances shared by all generations, k."""
    max_length: int = Field(10, ge=1)
    """Most operators in a pipeline, L_max."""
    operator_limit: int = Field(15, ge=1)
    """Most operators in the graph, K."""
    pool_limit: int = Field(10, ge=1)
    """Most implementations per operator, M."""
    structure: Structure = "dg"
    """What the graph may look like (ablation of Section 4.3.1): any directed graph, one without cycles,
    chains without branches, or the baseline's chain for ever."""
    temperature: float = Field(0.7, gt=0.0, le=1.0)
    """Sampling temperature τ of implementations and policy."""
    credit_rate: float = Field(0.1, gt=0.0, lt=1.0)
    """Learning rate α of transition credits."""
    credit_context: CreditContext = "first"
    """How much of its history a credit depends on (ablation of Section 4.3.2)."""
    epsilon: float = Field(1e-8, gt=0.0)
    """ε of reward standardisation and credit aggregation."""
    failure_reward: float = Field(-5.0, lt=0.0)
    """R_fail, the score of a candidate that fails on any instance."""
    evolution: bool = True
    """Whether implementations and edges evolve; off leaves policy and credit learning alone."""
    edits_per_generation: int = Field(1, ge=1)
    """Lowest-credit operators and edges treated in one generation."""
    edit_lag: int = Field(0, ge=0)
    """Generations between asking a model for an edit and making it: answers that are asked for in generation
    t are taken in generation t + L, after its credits, and generations in between do not wait for them. A
    rejected answer is asked for again there. 0 waits in the same generation, as the paper does."""
    edit_landing: Literal["fixed", "arrival"] = "fixed"
    """When answers under `edit_lag` are taken: ``fixed`` exactly then, however early they came, so that a run
    whose evaluations repeat (``work``) does not depend on anyone's speed; ``arrival`` in the first generation
    after they came, at the latest then."""
    sample_ahead: int = Field(0, ge=0)
    """Generations that are sampled before they begin: when generation t begins, the candidates of generation
    t + A are drawn by the credits and the policy of then, and evaluated whenever an evaluator would be idle.
    0 samples a generation when it begins, as the paper does."""
    attempts_per_edit: int = Field(3, ge=1)
    """Proposals per edit, the repairs after a rejection included."""
    rejection_limit: int = Field(40, ge=0)
    """Answers with code rejected one after the other after which the run ends; 0 for never."""
    edit_scope: Literal["graph", "walks"] = "graph"
    """Which operators and edges edits may concern: all of the graph, or those on some walk from ``START`` to
    ``END`` of at most ``max_length`` operators. With ``walks`` no edit may take an operator off all walks."""
    min_samples: int = Field(0, ge=0)
    """Activations that an operator or an edge needs before its credit is judged; 0 judges at once."""
    trial_samples: int = Field(0, ge=0)
    """Samples in the incumbent's walk that new code and new edges get before they are judged, replaced or
    asked for again; they take up to half of a generation's candidates."""
    last_edits: bool = True
    """Whether edits are made in the last generation too, whose evaluations are over by then, and the run ends
    when its calls are spent; off buys nothing that no evaluation can see."""
    no_change: bool = False
    """Whether "no change" is a valid answer to any request for code or edges."""
    no_change_rest: int = Field(0, ge=0)
    """Generations that go by before code is asked for again for an operator to which a model would change
    nothing, unless the operator's pool has changed by then; 0 asks in the next one."""
    configurations: bool = False
    """Whether code that differs from a member of its pool in constants alone is taken as a configuration of
    it, which takes its place and inherits its credits."""
    near_copy_lines: int = Field(0, ge=0)
    """New code with fewer new lines than this against a member of its pool is refused as a near copy, before
    any trial; names of locals and constants do not count. 0 refuses exact copies alone."""
    incumbent_edits: int = Field(0, ge=0)
    """Implementations asked for in a generation for operators of the incumbent program, in proportion to the
    effort and the improvement they account for; besides those that credit asks for."""
    edit_parent: Literal["incumbent", "descendant"] = "incumbent"
    """What code for an operator of the incumbent is to improve on: the implementation that is part of it, or
    the best of those that the gate measured as better than that by more than a standard error, of those
    measured as better than these, and so on, as far as they are in the pool."""
    gate_instances: int = Field(0, ge=0)
    """Most training instances on which new code is measured against its parent, inside the incumbent, before
    it joins a pool: only what does not lose joins, of rivals the best. 0 adds whatever runs."""
    gate_rivals: Literal["operator", "edit"] = "operator"
    """Which answers of a generation are rivals, of which at most one joins: all for one operator, or those to
    one edit alone."""
    gate_patience: float = Field(0.0, ge=0.0)
    """Standard errors of its mean gain by which new code must be behind its parent on the first half of the
    gate's instances to be given up there; 0 gives up whatever is behind."""
    call_plan: Literal["fixed", "spend"] = "fixed"
    """Whether a generation makes the set number of edits, or as many more for the incumbent as spend the
    calls that are left evenly over the generations that are left."""
    answers_per_edit: int = Field(1, ge=1)
    """Proposals asked for at the same time for each slot of an implementation, of which the gate takes the
    best; more than one needs `gate_instances`."""
    turns: int = Field(1, ge=1, le=3)
    """Answers asked for one after the other for each proposal of an implementation, each a call: from the
    second on the model is told what the gate measured of the one before. The best of all joins; more than one
    needs `gate_instances` and the third edition of prompts or a later one."""
    answer_form: Literal["whole", "diff", "auto"] = "whole"
    """How code is answered: as a whole text, or as replacements in the code that it improves on; ``auto``
    asks for replacements where most answers of earlier generations were sound, and for whole texts where
    replacements often did not fit. Other than ``whole`` needs the third edition of prompts."""
    prompt_edition: Literal[1, 2, 3, 4, 5, 6, 7, 8, 9, 10] = 1
    """Which prompts ask for code and edges. The second tells of the incumbent and the operator's neighbours,
    of instances, budget and gaps, of what was tried before and gained, and of samples beside credits. The
    third tells the same of the first graph and of edges, names the exact sizes of the instances, and asks
    for different directions where an operator is asked for several times at once. The fourth says what a
    charge is worth, what each position gets, which instances are solved, and why an edge is to go; it shows
    the operator in the program in which its code is measured. The fifth says what a prompt over its bound
    leaves out: code of neighbours before what was measured. The sixth says how far measured programs are
    behind the best known, what became of code that joined, and where a new operator is put. The seventh tells
    between which values the data of instances lie, how code failed, why a sound answer did not join, and what
    it means that nothing was gained or lost on any instance. The eighth says how code makes what rests on the
    instance alone only once. The ninth shows what the score of a problem of one's own calls, and names no
    change as an answer in a second turn, too. The tenth tells the best that races came to on each training
    instance and how often they did, the time of each position, and the functions of the other members."""
    bank_examples: int = Field(0, ge=0, le=5)
    """Entries of the run's bank, if it has one, that prompts for code show as examples: those that suit the
    operator best. More than 0 needs the fourth edition of prompts or a later one."""
    prompt_tokens: int = Field(16_000, ge=1_000)
    """Most tokens of a prompt from the second edition on, at four characters each; the facts that matter
    least are left out, the card and the code to be improved on never."""
    new_operators: int = Field(0, ge=0)
    """Generations between requests for an operator that the graph lacks; 0 for none. It joins if the
    incumbent gains by it in the gate (`gate_instances`); where the graph is full the operator used least
    leaves."""
    kernels: Literal["off", "offered", "evolved"] = "off"
    """Functions that implementations of the library share. ``offered``: code of a model may import them, and
    prompts from the third edition on say how. ``evolved``: in addition a faster version of one is asked for
    in each generation; where it is equal, bit by bit, and clearly faster, it takes the old one's place in all
    texts of the pools."""
    edge_edit: Literal["replace", "delta"] = "replace"
    """Algorithm 2's single replacement, or Template III's delta of at most 2 + 2 edges."""
    edge_smoke: bool = False
    """Whether a walk along each new edge is run on a small instance before the edit is taken, as Template III
    asks; an edge whose walk fails is refused."""
    policy: str = "embedded"
    """``embedded``, ``uniform``, a directory or a Hugging Face id of a causal language model."""
    learning_rate: float = Field(1e-4, gt=0.0)
    """AdamW learning rate of the policy."""
    max_gradient_norm: float = Field(1.0, gt=0.0)
    """Gradient clipping norm of the policy."""
    policy_focus: float = Field(0.0, ge=0.0, lt=1.0)
    """Probability with which a step of a walk follows the incumbent's walk (at first the baseline's) before
    anything is learned: a prior that multiplies the policy. 0: none, as in the paper."""
    policy_entropy: float = Field(0.0, ge=0.0)
    """Weight of the mean entropy of the policy's decisions in its loss; the paper has none."""
    policy_replay: float = Field(0.0, ge=0.0)
    """Reward with which the incumbent's walk takes part in every update of the policy; 0: it does not."""
    policy_dtype: Literal["float32", "bfloat16"] = "float32"
    """Number format of the policy's parameters."""
    policy_device: Literal["auto", "cpu", "cuda"] = "auto"
    """Where the policy runs; ``auto`` takes a GPU for a large model when there is one."""
    policy_threads: int = Field(0, ge=0)
    """Processor threads of the policy; 0: one for the embedded model, torch's own choice for others."""
    lora_rank: int = Field(0, ge=0)
    """Rank of low-rank adapters trained instead of the policy's own parameters; 0 trains all of them."""
    gradient_checkpointing: bool = False
    """Recompute the policy's activations in the backward pass: less memory, more time."""
    policy_checkpoints: Literal["auto", "on", "off"] = "auto"
    """Whether policy states are saved to files; ``auto`` saves those of large models."""
    policy_drift: Literal["refuse", "accept"] = "refuse"
    """What becomes of a run whose policy, rebuilt from the log, has other parameters than the log says, as
    another kind of processor or version of torch rounds otherwise; ``accept`` goes on with what was
    rebuilt, and the run repeats bit for bit on such a machine only."""
    policy_checkpoint_interval: int = Field(1, ge=1)
    """Generations between saved policy states."""
    validation_interval: int = Field(5, ge=0)
    """Generations between validations; 0 validates after the last generation only."""
    beam_width: int = Field(4, ge=1)
    """Width of the constrained beam search at validation."""
    checkpoint_margin: float = Field(2.0, ge=0.0)
    """Standard errors by which a pipeline must beat the checkpoint (the first one: the safe baseline) on the
    validation instances, pair by pair, in the mean or in the number won; 0 takes whatever has the higher
    mean, as the paper does."""
    checkpoint_rule: Literal["pooled", "pairs", "pairs_and_score"] = "pairs"
    """What a pipeline must beat under a margin. ``pooled``: the checkpoint, in a test of the gains in all
    validations of the two, at `checkpoint_error` for the whole run. ``pairs``: the checkpoint as validated
    beside it, by `checkpoint_margin`. ``pairs_and_score``: also the score stored when the checkpoint was
    selected, as in logs from before there was this setting."""
    checkpoint_error: float = Field(0.05, gt=0.0, lt=1.0)
    """Probability with which a run under ``pooled`` ever takes something for better than what it is tested
    against that is not."""
    checkpoint_against: Literal["checkpoint", "baseline"] = "checkpoint"
    """What a pipeline is tested against under ``pooled``: the checkpoint, or the safe baseline, which then
    takes part in every validation. What was found better than it and is ahead of the checkpoint in the mean
    takes the checkpoint's place, even if that lead may be chance."""
    error_spending: Literal["even", "late"] = "even"
    """How `checkpoint_error` is divided among the validations of a run: ``even``, or ``late``, as the cube of
    the part of them that is over, so that most is left for the last, whose winner the run returns."""
    checkpoint_test: Literal["holm", "joint"] = "holm"
    """How the challengers of a validation are tested together under ``pooled``: ``holm``, each by Student's
    and Wilcoxon's tests, and the error rate is divided among them; ``joint``, all at once by flipping the
    signs of their gains on an instance together, so that programs that are alike take nothing from each
    other."""
    checkpoint_family: Literal["validation", "run"] = "validation"
    """Among which challengers ``joint`` holds the error rate of a validation: those compared in it, or all
    that the run has compared so far, of which it brings back the best."""
    champion_share: float = Field(0.0, ge=0.0, lt=1.0)
    """Part of a validation's error rate that goes to the champion of the races, which has been tested before;
    the other challengers share the rest, and its part once it is found better. 0 treats all alike. Under
    ``holm`` alone."""
    race_contenders: int = Field(0, ge=0)
    """Contenders that race against the incumbent in each generation; 0 for no races."""
    race_instances: int = Field(16, ge=2)
    """Training instances on which the finalist of a race is compared with the incumbent, none of which took
    part in its selection (where there are fewer, they come again with another random stream)."""
    race_growth: float = Field(4.0, ge=1.5, le=100.0)
    """After each selecting round this fraction of the contenders is left, on as many times the instances."""
    race_returns: int = Field(0, ge=0)
    """Contenders outranked by others alone, after the first round, that come back in the next race: what they
    change is put into the winner."""
    race_sweep: int = Field(0, ge=0)
    """Contenders of a race, at most, that bring an operator which no race has tried in the incumbent yet,
    before others are drawn at random. For libraries in which a single operator decides."""
    race_substitutes: int = Field(0, ge=0)
    """Contenders of a race, at most, that put another operator of the same kind in the place of one, in one
    of its implementations that no race has tried there; the place that takes most of the time comes first.
    What uses all the time it gets may take the place of any search."""
    race_blocks: int = Field(0, ge=0)
    """Contenders of a race, at most, in which a text of the incumbent has a marked function
    (``# exchangeable``) of another text that fits; the place that takes most of the time comes first. None
    without `evolution`."""
    race_drops: int = Field(0, ge=0)
    """Contenders of a race, at most, that have less than the incumbent: its first position and one other
    alone, the one that takes most of the time first, then all but one, what takes more time than it improves
    first."""
    race_assemblies: int = Field(0, ge=0)
    """Contenders of a race, at most, that bring a text put together at random: of an operator with marked
    functions, each from any text of the pools where one fits, and about half of its constants anew; behind
    the first position alone or, one in three, in the place of a search. None without `evolution`."""
    race_opening: int = Field(0, ge=0)
    """Such texts, at most, that the first race of a run has beside its other contenders."""
    race_children: int = Field(0, ge=0)
    """Contenders of a race, at most, that bring a text with two parents among those that went beyond the
    first round of earlier races: functions and constants of both, some of them changed. They stand where
    assembled texts do. None without `evolution`."""
    screen_instances: int = Field(0, ge=0)
    """Training instances of a screen, a race that asks what parts of the incumbent are worth, its constants
    above all, eight at most and all at once; the next race has a contender that moves them accordingly. A
    race is a screen if those before left the incumbent's structure as it was. 0 for none."""
    screen_patience: int = Field(1, ge=1)
    """Races that must have left the structure as it was before one is a screen."""
    screen_levels: Literal[2, 3] = 2
    """Values of a constant in a screen: ``2``, one below the present one and one above; ``3``, the present
    one as well, or choices, so that each is compared with it."""
    screen_interval: int = Field(0, ge=0)
    """Generations from one screen to the next that is held whatever races have changed; the first of them is
    the second race. None in runs of less than twice as many generations, and 0 for none."""
    screen_functions: int = Field(0, ge=0, le=8)
    """Marked functions among the eight that a screen asks about, at most, each with one of another text in
    its place; those that are clearly worth something join the constants that were moved, in a contender of
    its own. None without `evolution`."""
    screen_stretch: float = Field(1.0, ge=1.0, le=100.0)
    """How many times as far a further contender moves the constants that a screen advised to move, up to the
    ends of their ranges. 1 for none."""
    race_credit: Literal["stays", "ahead"] = "stays"
    """By what races learn which kinds of neighbours of the incumbent to draw: by how often they stayed after
    a first round, ties among them if `race_ties` lets them stay, or how often because they were ahead; other
    constants then have three times the weight."""
    race_ties: bool = False
    """Whether contenders that did exactly as the incumbent on all instances of a selecting round may stay,
    behind those that are ahead: on instances that are solved already nobody can be."""
    race_behind: Literal["leave", "stay"] = "leave"
    """Whether contenders that are behind the incumbent in a selecting round leave the race, or may stay if
    they are the best: all meet the same run of the incumbent, whose luck on three instances would end a race.
    In the final what is behind leaves."""
    race_evidence: bool = False
    """Whether what the gate measured of new code inside the incumbent counts in the selecting rounds, beside
    their own instances. The final decides on its own instances alone."""
    race_memory: int = Field(0, ge=0)
    """Programs with new code, at most, that meet the incumbent again in the next race since they are ahead in
    the mean of all pairs so far: those of races, and under `race_evidence` those of the gate. All of them
    count in the rounds that select, beside the new ones. What such a program changes is put into another
    incumbent, and begins without pairs where both change the same position."""
    race_shrinkage: float = Field(0.0, ge=0.0, le=1000.0)
    """Pairs without gain that are added to every contender's where a round ranks them by their means, so that
    luck on three pairs does not outrank a smaller gain on twenty."""
    solved_share: float = Field(1.0, ge=0.0, le=1.0)
    """Part of the training instances known to be solved that races and gates still use: those on which the
    incumbent came to the best known objective when it was last compared there. Nothing can gain on them."""
    share_effort: float = Field(0.0, ge=0.0, lt=1.0)
    """Least mean part of the effort in training that two positions of the incumbent must account for before
    races move their shares of the budget."""
    race_error: float = Field(0.2, gt=0.0, lt=1.0)
    """Probability with which a finalist that is no better than the incumbent takes its place."""
    race_moves: str = Field("all", pattern=_MOVES_PATTERN)
    """Where contenders come from: ``all``, or names divided by commas: ``finalist``, ``sampled``, ``code``,
    ``implementation``, ``walk``, ``constants``, ``crossover``, ``share``."""
    validation_instances: int | None = Field(None, ge=1)
    """Validation instances used, evenly spaced over the split; when unset, all of them. Under ``pooled``
    that is 33 at least, and instances are used again, under other random streams, until there are so
    many."""
    last_validation: int = Field(1, ge=1)
    """The last planned validation compares on this many times the pairs of the others, under ``pooled``: what
    it does not confirm is lost."""
    checkpoint_unit: Literal["pair", "instance"] = "pair"
    """What the test under ``pooled`` takes for one observation: a pair, so that it tells of these instances,
    or an instance with the mean of its pairs, so that it tells of others like them, too; pairs again where
    there are fewer than six."""
    test_instances: int | None = Field(None, ge=1)
    """Held-out instances used by the test; when unset, the whole split."""
    test_group: str = Field("", max_length=500)
    """Groups whose held-out instances the test uses in place of those of `group`, named as there; empty for
    the same. The other instances of these groups are not used."""
    test_seconds: str = Field("", pattern=_LIMITS_PATTERN)
    """Wall-clock budgets per instance in which the test evaluates its algorithms besides, each anew: seconds
    divided by commas (``0.5,1,10``); empty for none."""
    time_limit: float = Field(90.0, gt=0.0)
    """Wall-clock seconds per instance."""
    work: int | None = Field(None, ge=1)
    """Work units per instance instead of seconds: units of the safe baseline, see `calibration`;
    `work_seconds` finds their number."""
    work_seconds: float | None = Field(None, gt=0.0)
    """Seconds that `work` is to stand for on an instance of middle size: how many units of the safe baseline
    these are is measured when the run begins, and recorded as its `work`."""
    work_by_size: bool = False
    """Whether `work` is that of an instance of middle size, and others get as many units as take the safe
    baseline as long; without calibration all get the same number."""
    calibration: Literal["measured", "off"] = "measured"
    """Whether work units are made comparable: the units that each implementation charges per second of
    processor time are measured when it is first needed, and scale its charges to those of the safe baseline.
    ``off`` believes each implementation's own count."""
    calibrate_constants: bool = False
    """Whether a configuration, code that differs in constants alone, is measured on its own; otherwise it
    counts as the text it configures."""
    call_costs: bool = False
    """Whether it is measured what a call of an implementation takes besides what its units take, such as a
    first solution that is built whatever is left; what the calls of a walk take is taken off its budget
    before the positions share it."""
    work_rates: str | None = None
    """Run of the same database whose measured rates are taken over, so that its evaluations can be repeated
    bit for bit; when unset, they are measured, or taken from the run whose answers are recorded."""
    work_drift: float = Field(4.0, gt=1.0)
    """How many times the processor time that its work stands for an evaluation may take before it is refused;
    half a second is allowed in any case."""
    llm: str = "offline"
    """Who writes new code and edges: ``offline`` (the built-in proposer; ``offline:constants`` varies nothing
    but constants, at random; ``offline:library`` also knows code that the run's library leaves out),
    ``openai:MODEL`` (any OpenAI-compatible chat endpoint), ``anthropic:MODEL``, ``local:PATH`` (transformers,
    on this machine), ``recorded:RUN`` (its answers) or ``recorded:FILE`` (those of an exported run; a name
    with a ``/`` or that ends in ``.zip``). Where nothing was recorded for a prompt the run is paused, or,
    with ``recorded:FILE,then=BACKEND``, that one answers. ``recorded:FILE,match=task`` gives a prompt that
    was not recorded an accepted answer to a request of the same kind for the same operator, each once."""
    bank: str = "none"
    """Where code of earlier runs comes from that is offered before a model is asked: ``none``, ``shipped``
    (language models wrote it) or a file that ``dga2d bank add`` wrote. It is tried and measured like any
    answer, and costs no call."""
    bank_offers: int = Field(3, ge=1)
    """Most entries of the bank that are offered for an operator in a run."""
    bank_operators: int = Field(0, ge=0)
    """Most operators outside the incumbent that the bank brings in, of either kind, one in a generation, the
    best first. Those of the graph get what was written for them through the first slot of
    `incumbent_edits`; those that the run's library lacks are offered as operators, put beside the
    incumbent's and measured there, which needs `gate_instances`."""
    llm_others: tuple[str, ...] = ()
    """Further models that write code, named as `llm` (on the command line ``--llm`` again): which is asked is
    drawn by what the calls of each have gained; where it is down another answers."""
    llm_edges: str | None = None
    """Model that is asked for edges; ``None`` for the first."""
    llm_calls: int = Field(500, ge=0)
    """Most calls of the language model; every completion requested counts, repairs included."""
    llm_tokens: int | None = Field(None, ge=0)
    """Most tokens of all calls together, prompts and answers; when unset, no limit."""
    llm_money_usd: float | None = Field(None, ge=0.0, le=MOST_USD)
    """Most money of all calls together, in US dollars by the prices below; when unset, no limit."""
    llm_price_prompt: float = Field(0.0, ge=0.0)
    """US dollars per million prompt tokens."""
    llm_price_answer: float = Field(0.0, ge=0.0)
    """US dollars per million tokens of answers, reasoning included."""
    llm_base_url: str | None = None
    """Where the endpoint is, up to and including ``/v1``; when unset, the provider's own."""
    llm_key_file: str | None = None
    """File that holds the key; when unset, DGA2D_LLM_KEY, OPENAI_API_KEY or ANTHROPIC_API_KEY."""
    llm_max_tokens: int = Field(16384, ge=1)
    """Most tokens of one answer, reasoning included."""
    llm_temperature: float | None = Field(None, ge=0.0, le=2.0)
    """Sampling temperature of the language model; when unset, the provider's own."""
    llm_structured: Literal["auto", "schema", "json", "off"] = "auto"
    """How answers that are JSON are asked for: by schema, as JSON, or in words alone; ``auto`` begins with
    the schema and steps down where the endpoint refuses it."""
    llm_stream: bool = True
    """Whether answers are read as they are written."""
    llm_timeout: float = Field(300.0, gt=0.0)
    """Seconds from sending a request to the end of its answer; a call that takes longer is lost and spent."""
    llm_outage_limit: float = Field(86400.0, ge=0.0)
    """Seconds to wait for an endpoint that does not work; then the run is paused."""
    llm_requests_per_minute: int | None = Field(None, ge=1)
    """Most requests in any minute; when unset, no limit."""
    llm_tokens_per_minute: int | None = Field(None, ge=1)
    """Most tokens in any minute, counted as reserved; when unset, no limit."""
    llm_concurrent: int = Field(4, ge=1)
    """Most requests at a time."""
    evaluators: int | str | None = None
    """Evaluation processes; when unset, one per core. ``ray``: those of the Ray cluster that runs on this
    machine or that ``RAY_ADDRESS`` names, as many per node as it offers processors; ``ray:HOST:PORT``: those
    of the cluster whose head is there."""
    sandbox: Literal["strict", "best-effort", "off"] = "best-effort"
    """What to do when a layer of the sandbox is missing."""
    memory_limit: int = Field(2048, ge=32)
    """MiB of address space one evaluation may add to its interpreter's."""
    cpu_limit: float | None = Field(None, gt=0.0)
    """Seconds of processor time of one evaluation; when unset, as long as its deadline."""
    grace_limit: float = Field(1.0, gt=0.0)
    """Seconds past ``time_limit`` before an evaluation is killed."""
    work_time_limit: float = Field(300.0, gt=0.0)
    """Wall-clock seconds before an evaluation under ``work`` is killed."""
    import_limit: float = Field(20.0, gt=0.0)
    """Seconds for importing the implementations of one evaluation; its budget starts after them."""
    compile_limit: float = Field(120.0, gt=0.0)
    """Seconds for the first compilation of an implementation."""
    process_limit: int = Field(0, ge=0)
    """Processes and threads one evaluation may start; the kernel does not count those of root."""
    open_file_limit: int = Field(32, ge=8)
    """Files one evaluation may hold open."""
    file_size_limit: int = Field(64, ge=1)
    """MiB of compiled code that is kept of one implementation; evaluations write no files."""
    answer_limit: int = Field(8, ge=1)
    """MiB of the largest answer of an evaluation."""

    @field_validator("evaluators", mode="before")
    @classmethod
    def _number_or_cluster(cls, value: Any) -> int | str | None:
        text = str(value)
        if value is None or re.fullmatch(CLUSTER, text):
            return value  # type: ignore[no-any-return]
        if isinstance(value, bool) or re.fullmatch("[0-9]{1,9}", text) is None or int(text) < 1:
            raise ValueError("expected a number of processes above 0, 'ray' or 'ray:HOST:PORT'")
        return int(text)

    @model_validator(mode="after")
    def _refuse_contradictions(self) -> Self:
        if self.answers_per_edit > 1 and not self.gate_instances:
            raise ValueError(
                f"answers_per_edit = {self.answers_per_edit} needs gate_instances: the gate takes the best"
            )
        if self.turns > 1 and not (self.gate_instances and self.prompt_edition >= 3):
            raise ValueError(f"turns = {self.turns} needs gate_instances and prompt_edition = 3 or more")
        if self.turns > 1 and self.edit_lag:
            raise ValueError(f"turns = {self.turns} needs edit_lag = 0: each turn waits for the one before")
        limits = self.test_limits_s
        if 0.0 in limits or len(set(limits)) < len(limits):
            raise ValueError("test_seconds expects different numbers above 0")
        if self.edit_lag and not self.evolves_pipelines:
            raise ValueError(
                f"edit_lag = {self.edit_lag} needs method = dga2d: a round waits for its answers"
            )
        if self.sample_ahead and not self.evolves_pipelines:
            raise ValueError(
                f"sample_ahead = {self.sample_ahead} needs method = dga2d: a round writes its own programs"
            )
        if self.evolves_component and self.method in ("dga2d", "tree"):
            raise ValueError(
                f"space = {self.space} needs another method than {self.method}, which rearranges components"
            )
        if self.answer_form != "whole" and self.prompt_edition < 3:
            raise ValueError(f"answer_form = {self.answer_form} needs prompt_edition = 3 or more")
        if self.bank_examples and self.prompt_edition < 4:
            raise ValueError(f"bank_examples = {self.bank_examples} needs prompt_edition = 4 or more")
        if self.work_seconds is not None and self.work is None and self.calibration == "off":
            raise ValueError(f"work_seconds = {self.work_seconds:g} needs calibration = measured")
        if self.new_operators and not self.gate_instances:
            raise ValueError(
                f"new_operators = {self.new_operators} needs gate_instances: the gate judges them"
            )
        return self

    @property
    def evolves_pipelines(self) -> bool:
        """Whether pipelines of operators are evolved, and not complete programs by another method."""
        return self.method == "dga2d"

    @property
    def evolves_component(self) -> bool:
        """Whether programs differ in one function, within a skeleton that stays as it is."""
        return self.space != "program"

    @property
    def test_limits_s(self) -> tuple[float, ...]:
        """What `test_seconds` names."""
        return tuple(float(limit) for limit in self.test_seconds.split(",") if limit)

    @property
    def moves(self) -> frozenset[str]:
        """The kinds of contenders that `race_moves` names."""
        return MOVES if self.race_moves == "all" else frozenset(self.race_moves.split(","))

    @property
    def tells_races(self) -> bool:
        """Whether prompts tell what races came to, so that it is counted."""
        return self.prompt_edition >= 10

    @property
    def llm_microusd(self) -> int | None:
        """The limit of money in millionths of a US dollar, rounded down."""
        return None if self.llm_money_usd is None else math.floor(self.llm_money_usd * 1_000_000)

    @property
    def pools_validations(self) -> bool:
        """Whether the checkpoint is chosen by a test over all validations."""
        return self.checkpoint_margin > 0.0 and self.checkpoint_rule == "pooled"

    @property
    def tests_against_baseline(self) -> bool:
        """Whether pooled validations test pipelines against the safe baseline, whatever the checkpoint is."""
        return self.pools_validations and self.checkpoint_against == "baseline"

    @property
    def compares_checkpoints_by_pairs(self) -> bool:
        """Whether a new checkpoint need not have a higher score than the one before had when selected."""
        return self.checkpoint_margin > 0.0 and self.checkpoint_rule != "pairs_and_score"

    @property
    def sizes_work(self) -> bool:
        """Whether instances of different sizes get different amounts of work."""
        return self.work is not None and self.calibration == "measured" and self.work_by_size

    @property
    def budget(self) -> tuple[float, Literal["s", "work"]]:
        """Budget per instance and its unit."""
        return (float(self.work), "work") if self.work is not None else (self.time_limit, "s")
