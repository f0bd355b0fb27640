"""What the text of an implementation may contain: closed lists, read by the rest of this package.

Whatever stands in no list is refused: kinds of syntax, modules and their names, attributes, keywords.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


NODES: Final = _words(
    """
    Module FunctionDef ClassDef Return Delete Assign AugAssign AnnAssign For While If With Raise Try
    Assert Import ImportFrom Nonlocal Expr Pass Break Continue
    Match match_case MatchValue MatchSingleton MatchSequence MatchStar MatchAs MatchOr
    BoolOp NamedExpr BinOp UnaryOp Lambda IfExp Dict Set ListComp SetComp DictComp GeneratorExp Yield
    YieldFrom Compare Call FormattedValue JoinedStr Constant Attribute Subscript Starred Name List
    Tuple Slice Load Store Del And Or Add Sub Mult MatMult Div Mod Pow LShift RShift BitOr BitXor
    BitAnd FloorDiv Invert Not UAdd USub Eq NotEq Lt LtE Gt GtE Is IsNot In NotIn
    comprehension ExceptHandler arguments arg keyword alias withitem
    """
)
"""Classes of :mod:`ast` a syntax tree may be made of."""
CONSTRUCTS: Final[Mapping[str, str]] = {
    "AsyncFunctionDef": "async functions are not allowed",
    "AsyncFor": "async loops are not allowed",
    "AsyncWith": "async with is not allowed",
    "Await": "await is not allowed",
    "Global": "global is not allowed; pass values as arguments or keep them in state.metadata",
    "MatchClass": "a class pattern reads attributes and is not allowed; use isinstance or an if",
    "MatchMapping": "a mapping pattern is not allowed; use an if",
    "TryStar": "except* is not allowed",
    "TypeAlias": "type aliases are not allowed",
    "TypeVar": "type parameters are not allowed",
    "ParamSpec": "type parameters are not allowed",
    "TypeVarTuple": "type parameters are not allowed",
    "TemplateStr": "template strings are not allowed",
}
"""Words for kinds of syntax that are not in `NODES` and that somebody may write."""
ALLOWED_IMPORTS: Final = _words(
    """
    bisect collections collections.abc dataclasses functools heapq itertools math numba numba.typed
    numba.types numpy numpy.linalg numpy.random numpy.typing random typing __future__
    """
)
"""Modules an implementation may import."""
INSTEAD: Final[Mapping[str, str]] = {
    "time": "env_data['budget'] says what is left",
    "copy": "arrays, lists and dicts have copy()",
    "operator": "write a lambda",
    "scipy": "numpy and numba are there",
}
"""Module that is often asked for → what to use."""
NUMBA_TYPES: Final = _words(
    """
    boolean bool_ void none int_ intp uintp intc uintc byte char short long int8 int16 int32 int64
    uint8 uint16 uint32 uint64 float32 float64 double complex64 complex128 b1 i1 i2 i4 i8 u1 u2 u4 u8
    f4 f8
    """
)
"""Types of numba; the words a signature in a string may hold, since numba evaluates it."""
_NUMPY = """
abs absolute acos acosh add all allclose amax amin angle any append apply_along_axis apply_over_axes
arange arccos arccosh arcsin arcsinh arctan arctan2 arctanh argmax argmin argpartition argsort argwhere
around array array_equal array_equiv array_split asanyarray asarray asarray_chkfinite ascontiguousarray
asfortranarray asin asinh astype atan atan2 atanh atleast_1d atleast_2d atleast_3d average base_repr
binary_repr bincount bitwise_and bitwise_count bitwise_invert bitwise_left_shift bitwise_not bitwise_or
bitwise_right_shift bitwise_xor block bool bool_ broadcast_arrays broadcast_shapes broadcast_to byte c_
cbrt cdouble ceil choose clip column_stack complex128 complex64 complexfloating compress concat
concatenate conj conjugate convolve copy copysign copyto corrcoef correlate cos cosh count_nonzero cov
cross cumprod cumsum cumulative_prod cumulative_sum deg2rad degrees delete diag diag_indices
diag_indices_from diagflat diagonal diff digitize divide divmod dot double dsplit dstack dtype e ediff1d
einsum empty empty_like equal errstate euler_gamma exp exp2 expand_dims expm1 extract eye fabs
fill_diagonal finfo fix flatnonzero flip fliplr flipud float16 float32 float64 float_power floating floor
floor_divide fmax fmin fmod frexp fromfunction fromiter frompyfunc full full_like gcd generic geomspace
gradient greater greater_equal half heaviside histogram histogram2d histogram_bin_edges hsplit hstack
hypot identity iinfo imag indices inexact inf inner insert int16 int32 int64 int8 int_ intc integer interp
intersect1d intp invert isclose isfinite isin isinf isnan isneginf isposinf isreal isscalar issubdtype ix_
kron lcm ldexp left_shift less less_equal lexsort linalg linspace log log10 log1p log2 logaddexp
logaddexp2 logical_and logical_not logical_or logical_xor logspace longlong mask_indices matmul
matrix_transpose matvec max maximum mean median meshgrid mgrid min minimum mod modf moveaxis multiply nan
nan_to_num nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmedian nanmin nanpercentile nanprod
nanquantile nanstd nansum nanvar ndarray ndenumerate ndim ndindex negative newaxis nextafter nonzero
not_equal number object_ ogrid ones ones_like outer packbits pad partition percentile permute_dims pi
piecewise place poly polyadd polyder polyfit polyint polymul polysub polyval positive pow power prod
promote_types ptp put put_along_axis putmask quantile r_ rad2deg radians random ravel ravel_multi_index
real reciprocal remainder repeat require reshape resize result_type right_shift rint roll rollaxis roots
rot90 round s_ searchsorted select setdiff1d setxor1d shape short sign signbit signedinteger sin sinc
single sinh size sort spacing split sqrt square squeeze stack std subtract sum swapaxes take
take_along_axis tan tanh tensordot tile trace transpose trapezoid tri tril tril_indices tril_indices_from
trim_zeros triu triu_indices triu_indices_from true_divide trunc typing ubyte ufunc uint uint16 uint32
uint64 uint8 uintc uintp ulonglong union1d unique unique_all unique_counts unique_inverse unique_values
unpackbits unravel_index unsignedinteger unstack unwrap ushort vander var vdot vecdot vecmat vectorize
vsplit vstack where zeros zeros_like
"""

PUBLIC_NAMES: Final[Mapping[str, frozenset[str]]] = {
    "__future__": _words("annotations"),
    "bisect": _words("bisect bisect_left bisect_right insort insort_left insort_right"),
    "collections": _words("ChainMap Counter OrderedDict abc defaultdict deque namedtuple"),
    "collections.abc": _words(
        """
        Callable Collection Container Generator Hashable ItemsView Iterable Iterator KeysView
        Mapping MutableMapping MutableSequence MutableSet Reversible Sequence Set Sized ValuesView
        """
    ),
    "dataclasses": _words("dataclass field replace FrozenInstanceError"),
    "functools": _words("cache cmp_to_key lru_cache partial reduce total_ordering"),
    "heapq": _words("heapify heappop heappush heappushpop heapreplace merge nlargest nsmallest"),
    "itertools": _words(
        """
        accumulate batched chain combinations combinations_with_replacement compress count cycle
        dropwhile filterfalse groupby islice pairwise permutations product repeat starmap
        takewhile tee zip_longest
        """
    ),
    "math": _words(
        """
        acos acosh asin asinh atan atan2 atanh cbrt ceil comb copysign cos cosh degrees dist e erf
        erfc exp exp2 expm1 fabs factorial floor fma fmod frexp fsum gamma gcd hypot inf isclose
        isfinite isinf isnan isqrt lcm ldexp lgamma log log10 log1p log2 modf nan nextafter perm
        pi pow prod radians remainder sin sinh sqrt sumprod tan tanh tau trunc ulp
        """
    ),
    "numba": NUMBA_TYPES | _words("njit jit prange typeof typed types literally literal_unroll"),
    "numba.typed": _words("Dict List"),
    "numba.types": NUMBA_TYPES
    | _words("Array DictType ListType Tuple UniTuple NamedTuple unicode_type optional"),
    "numpy": _words(_NUMPY),
    "numpy.linalg": _words(
        """
        LinAlgError cholesky cond cross det diagonal eig eigh eigvals eigvalsh inv lstsq matmul
        matrix_norm matrix_power matrix_rank matrix_transpose multi_dot norm outer pinv qr slogdet
        solve svd svdvals tensordot tensorinv tensorsolve trace vecdot vector_norm
        """
    ),
    "numpy.random": _words(
        """
        Generator MT19937 PCG64 PCG64DXSM Philox RandomState SFC64 SeedSequence beta binomial
        chisquare choice default_rng dirichlet exponential gamma geometric gumbel laplace logistic
        lognormal multinomial multivariate_normal normal pareto permutation poisson power rand
        randint randn random random_sample rayleigh sample seed shuffle standard_cauchy
        standard_exponential standard_gamma standard_normal standard_t triangular uniform vonmises
        weibull zipf
        """
    ),
    "numpy.typing": _words("ArrayLike DTypeLike NDArray"),
    "random": _words(
        """
        Random betavariate choice choices expovariate gammavariate gauss getrandbits
        lognormvariate normalvariate paretovariate randint random randrange sample seed shuffle
        triangular uniform vonmisesvariate weibullvariate
        """
    ),
    "typing": _words(
        """
        Any Callable ClassVar Collection Deque DefaultDict Dict Final FrozenSet Generator Hashable
        Iterable Iterator List Literal Mapping MutableMapping MutableSequence NamedTuple NoReturn
        Optional OrderedDict Sequence Set Sized Tuple Type TypeAlias Union
        """
    ),
}
"""Module → names an implementation may take from it; submodules are listed where they are open."""

BUILTINS: Final = _words(
    """
    abs all any bin bool callable chr complex dict divmod enumerate filter float format frozenset hash
    hex id int isinstance iter len list map max min next object oct ord pow range repr reversed round
    set slice sorted str sum tuple zip
    ArithmeticError AssertionError AttributeError Exception FloatingPointError ImportError IndexError
    KeyError LookupError MemoryError ModuleNotFoundError NotImplemented NotImplementedError NameError
    OverflowError RecursionError RuntimeError StopIteration TypeError ValueError ZeroDivisionError
    """
)
"""Built-in names that are values like any other; a text may also bind them itself."""

FIXED_FORMS: Final = _words("type super hasattr print property staticmethod classmethod")
"""Built-in names that may only be called or decorate, in the forms that the rules know."""

FORBIDDEN_NAMES: Final = _words(
    """
    eval exec compile open __import__ globals locals vars dir getattr setattr delattr input breakpoint
    exit quit help memoryview bytes bytearray issubclass aiter anext ascii copyright credits license
    BaseException BaseExceptionGroup ExceptionGroup SystemExit KeyboardInterrupt GeneratorExit
    """
)
"""Built-in names that may not even be bound."""

ATTRIBUTES: Final = _words(
    """
    sequence metadata exhausted charge remaining spent work
    T accumulate all any argmax argmin argpartition argsort astype at choose clip compress conj
    conjugate copy cumprod cumsum diagonal dot dtype fill flat flatten imag item itemsize max mean min
    nbytes ndim nonzero outer partition prod ptp put ravel real reduce reduceat repeat reshape resize
    round searchsorted shape size sort squeeze std strides sum swapaxes take tobytes tolist trace
    transpose var view
    eps tiny bits name kind
    append appendleft clear count elements extend extendleft index insert maxlen most_common
    move_to_end pop popitem popleft remove reverse rotate subtract total update
    fromkeys get items keys setdefault values
    add difference difference_update discard intersection intersection_update isdisjoint issubset
    issuperset symmetric_difference symmetric_difference_update union
    center endswith find isalpha isdigit join ljust lower lstrip rfind rjust rsplit rstrip split
    splitlines startswith strip upper zfill
    as_integer_ratio bit_count bit_length denominator is_integer numerator
    beta binomial chisquare choice dirichlet exponential gamma geometric gumbel hypergeometric
    integers laplace logistic lognormal multinomial multivariate_normal normal pareto permutation
    permuted poisson power random rayleigh shuffle standard_cauchy standard_exponential standard_gamma
    standard_normal standard_t triangular uniform vonmises weibull zipf
    betavariate choices expovariate gammavariate gauss getrandbits lognormvariate normalvariate
    paretovariate randint randrange rand randn sample seed
    from_iterable empty_list cache_clear cache_info
    eigenvalues eigenvectors Q R U S Vh
    """
)
"""Attributes of the values an implementation meets; besides, those that its own classes declare."""

ASSIGNABLE: Final = frozenset({"sequence", "metadata"})
"""Attributes that may be assigned to, besides those that classes of the text declare."""

FORBIDDEN_ATTRIBUTES: Final = _words(
    """
    ctypes cffi capsule lock tofile fromfile dump dumps memmap ctypeslib f2py objmode SystemRandom
    bit_generator gi_frame gi_code gi_yieldfrom cr_frame cr_code cr_await cr_origin ag_frame ag_code
    ag_await tb_frame tb_next tb_lasti tb_lineno f_back f_builtins f_code f_globals f_lasti f_lineno
    f_locals f_trace f_trace_lines f_trace_opcodes func_globals func_code func_closure func_defaults
    co_code co_consts co_names co_varnames co_freevars co_cellvars co_filename co_positions co_lines
    mro with_traceback add_note throw send format format_map next_position default_factory
    py_func overloads targetctx targetdescr targetoptions typingctx recompile add_overload
    enable_caching disable_compile get_overload get_call_template get_compile_result get_function_type
    compile get_metadata get_annotation_info fold_argument_types nopython_signatures parallel_diagnostics
    typeof_pyval inspect_asm inspect_cfg inspect_disasm_cfg inspect_llvm inspect_types
    _abc_impl _callback_add_compiler_timer _callback_add_llvm_timer _callback_add_timer _can_compile
    _compilation_chain_init_hook _compile_for_args _compiler _compiling_counter _cuda_call
    _enable_sysmon _explain_ambiguous _explain_matching_error _fold_args _make_finalizer _numba_type_
    _rebuild _reduce_class _reduce_states _reset_overloads _search_new_conversions _set_uuid
    _types_active_call _bit_generator _get_strided_loop _resolve_dtypes_and_context
    """
)
"""Attributes that lead from a value to the interpreter, the compiler or a file: no class may declare them."""

BUDGET_METHODS: Final = frozenset({"exhausted", "charge", "remaining", "spent", "work"})
"""Attributes of the budget: nothing may be assigned to these."""

KEYWORDS: Final = _words(
    """
    all alpha append arr assume_unique atol axes axis axis1 axis2 base bins boundary casting
    compute_uv condition constant_values copy count cum_weights ddof decimals default density
    destination divide dtype edge_order end endpoint equal_nan fill_value fp full_matrices func
    hermitian hi high indexing indices initial initializer invalid invert item_type iterable k
    keepdims key key_type kind kth lam left lo loc low maxlen maxsize maxsplit method minlength mod
    mode n nan ndigits ndmin neginf num obj offset optimize order ord otypes out over p pad_width
    posinf prepend pvals q r range rcond refcheck repeat repeats replace return_counts return_index
    return_inverse returned reverse right rtol scale seed sep shape shift shuffle side size sorter
    source sparse start step stop strict subscripts tol typed under unit_offset value_type values
    weights where x xp y a a_min a_max b N M UPLO max min m
    """
)
"""Keywords of the functions and methods above; besides, the parameters and fields that the text declares."""

JIT_OPTIONS: Final = _words("boundscheck cache error_model fastmath inline nogil nopython")
"""Options of ``@njit``, each a constant; the others start threads, leave compiled code or run code."""

DATACLASS_OPTIONS: Final = _words("eq frozen init kw_only order repr slots unsafe_hash")
FIELD_OPTIONS: Final = _words("compare default default_factory hash init kw_only repr")

DECORATORS: Final = _words(
    """
    numba.njit numba.jit functools.cache functools.lru_cache functools.total_ordering
    dataclasses.dataclass property staticmethod classmethod
    """
)
"""What may stand behind ``@``, with the module it comes from."""

COMPILERS: Final = frozenset({"numba.njit", "numba.jit"})
"""Functions of numba that compile. What ``vectorize`` makes has a method ``add`` that evaluates strings."""

ONLY_CALLED: Final = COMPILERS | _words(
    "collections.namedtuple typing.NamedTuple dataclasses.dataclass dataclasses.field"
)
"""What may be called, decorate or be a base class, but is no value, so that every use of it is seen."""

ALLOWED_DUNDER_DEFINITIONS: Final = _words(
    """
    __init__ __post_init__ __lt__ __le__ __gt__ __ge__ __eq__ __hash__ __len__ __iter__ __next__
    __getitem__ __setitem__ __contains__ __bool__ __call__ __repr__ __add__ __sub__ __neg__
    """
)
"""Special methods a class of the implementation may define."""

CONSTANT_CALLS: Final = _words("float int bool str tuple frozenset dict list range len")
"""Built-ins that module-level constants may call, besides functions of `CONSTANT_MODULES`."""

CONSTANT_MODULES: Final = _words(
    "math numpy numpy.linalg numpy.random numba numba.types numba.typed collections itertools random"
)
"""Modules whose functions module-level constants may call."""

CALLING_BACK: Final = _words(
    """
    numpy.apply_along_axis numpy.apply_over_axes numpy.fromfunction numpy.piecewise collections.defaultdict
    itertools.accumulate itertools.dropwhile itertools.filterfalse itertools.groupby itertools.starmap
    itertools.takewhile
    """
)
"""Functions of them that would call a function of the text."""

UNSEEDED: Final = _words("default_rng SeedSequence PCG64 PCG64DXSM MT19937 Philox SFC64 RandomState")
"""Generators that must be given a seed, so that runs can be repeated."""
