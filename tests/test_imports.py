"""The arrows rag <- indexes <- training, and what may be imported where."""

from __future__ import annotations

import ast
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.paths import ROOT

# package -> our own packages that it may import
ARROWS = {"rag": {"rag"}, "indexes": {"rag", "indexes"}, "training": {"rag", "indexes", "training"}}
# package -> what of others its modules may import at their top; the rest is imported where it is used
ALLOWED = {
    "rag": {"bm25s", "faiss", "rjieba", "numpy", "scipy", "Stemmer"},
    "rag/ui": {"starlette", "streamlit"},
    "rag/api": {"anyio", "fastapi", "httpx", "mcp", "prometheus_client", "pydantic", "starlette"},
    "indexes": {"numpy", "scipy", "tqdm"},
    "training": {"ir_measures", "numpy", "scipy", "tqdm"},
}
# What speaks with a page that runs has to speak its language; it draws nothing, and only when it is asked to.
SPOKEN = "streamlit.proto."
SPEAKS = ROOT / "training" / "pages"
HEAVY = {
    "torch",
    "sentence_transformers",
    "transformers",
    "tokenizers",
    "safetensors",
    "langchain",
    "langchain_core",
    "langsmith",
    "openai",
    "anthropic",
    "datasets",
}


@dataclass(frozen=True)
class Import:
    module: str  # dotted, absolute
    line: int
    top: bool  # runs when the module is imported

    @property
    def root(self) -> str:
        return self.module.partition(".")[0]


class _Finder(ast.NodeVisitor):
    """Collects every import; those that only the type checker sees are left out."""

    def __init__(self) -> None:
        self.found: list[Import] = []
        self._functions = 0  # how many we are inside of

    def visit_Import(self, node: ast.Import) -> None:
        self.found += [Import(alias.name, node.lineno, not self._functions) for alias in node.names]

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        assert node.level == 0, f"line {node.lineno}: a relative import; write it out"
        self.found.append(Import(node.module or "", node.lineno, not self._functions))

    def visit_If(self, node: ast.If) -> None:
        seen = node.orelse if "TYPE_CHECKING" in ast.unparse(node.test) else [*node.body, *node.orelse]
        for statement in seen:
            self.visit(statement)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._functions += 1
        self.generic_visit(node)
        self._functions -= 1

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815


def _imports(source: str) -> list[Import]:
    finder = _Finder()
    finder.visit(ast.parse(source))
    return finder.found


def _modules(folder: str) -> list[Path]:
    return sorted((ROOT / folder).rglob("*.py"))


def _found(path: Path) -> list[Import]:
    return _imports(path.read_text(encoding="utf-8"))


def test_imports_are_told_apart() -> None:
    source = (
        "import a.b\nfrom typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import t\nelse:\n    import e\n"
        "try:\n    import c\nexcept ValueError:\n    from d import x\n"
        "class K:\n    import k\n    def m(self):\n        if self:\n            import m\n"
        "async def f():\n    import f\n"
    )
    found = _imports(source)
    assert [(i.module, i.top) for i in found] == [
        ("a.b", True),
        ("typing", True),
        ("e", True),
        ("c", True),
        ("d", True),
        ("k", True),
        ("m", False),
        ("f", False),
    ]
    assert found[0].root == "a"


@pytest.mark.parametrize("package", sorted(ARROWS))
def test_arrows_point_one_way(package: str) -> None:
    ours = {"rag", "indexes", "training", "tests", "app"}
    against = [
        f"{path.relative_to(ROOT)}:{i.line} imports {i.module}"
        for path in _modules(package)
        for i in _found(path)
        if i.root in ours - ARROWS[package]
    ]
    assert not against, f"rag <- indexes <- training: {against}"


def test_streamlit_stays_in_the_pages() -> None:
    against = [
        f"{path.relative_to(ROOT)}:{i.line}"
        for package in ARROWS
        for path in _modules(package)
        for i in _found(path)
        if i.root == "streamlit" and not path.is_relative_to(ROOT / "rag" / "ui")
        if i.top or not (i.module.startswith(SPOKEN) and path.is_relative_to(SPEAKS))
    ]
    assert not against, f"streamlit is imported outside rag/ui: {against}"


def test_pages_are_imported_by_pages_alone() -> None:
    # Whoever imports rag.ui loads streamlit, so that rule would else be got round.
    against = [
        f"{path.relative_to(ROOT)}:{i.line}"
        for package in ARROWS
        for path in _modules(package)
        for i in _found(path)
        if (i.module + ".").startswith("rag.ui.") and not path.is_relative_to(ROOT / "rag" / "ui")
    ]
    assert not against, f"rag.ui is imported outside rag/ui: {against}"


@pytest.mark.parametrize("package", sorted(ARROWS))
def test_only_known_packages_at_the_top(package: str) -> None:
    against = []
    for path in _modules(package):
        known = ALLOWED[package] | sys.stdlib_module_names | ARROWS[package]
        for room in ("rag/ui", "rag/api"):
            known |= ALLOWED[room] if path.is_relative_to(ROOT / room) else set()
        against += [
            f"{path.relative_to(ROOT)}:{i.line} {i.root}"
            for i in _found(path)
            if i.top and i.root not in known
        ]
    assert not against, f"not in the list of this test, or to be imported where it is used: {against}"


def test_heavy_packages_are_imported_where_they_are_used() -> None:
    assert not HEAVY & set().union(*ALLOWED.values())
    against = [f"app.py:{i.line} {i.root}" for i in _found(ROOT / "app.py") if i.top and i.root in HEAVY]
    assert not against


def _loaded_by(code: str) -> set[str]:
    """The top-level modules that a fresh Python holds after running the code."""
    script = f"{code}\nimport sys\nprint('\\n'.join(sorted(set(m.partition('.')[0] for m in sys.modules))))"
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", script], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    return set(run.stdout.split())


def _circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """The strongly connected components of more than one module (Tarjan 1972)."""
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(module: str) -> None:
        number[module] = low[module] = len(number)
        stack.append(module)
        for other in sorted(graph[module]):
            if other not in number:
                visit(other)
                low[module] = min(low[module], low[other])
            elif other in stack:
                low[module] = min(low[module], number[other])
        if low[module] == number[module]:
            component = [stack.pop()]
            while component[-1] != module:
                component.append(stack.pop())
            if len(component) > 1:
                found.append(sorted(component))

    for module in sorted(graph):
        if module not in number:
            visit(module)
    return found


def test_circles_are_found() -> None:
    graph = {"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}, "e": {"f"}, "f": {"e"}}
    assert _circles(graph) == [["a", "b", "c"], ["e", "f"]]
    assert _circles(graph | {"c": set(), "f": set()}) == []


def test_no_module_imports_itself_by_way_of_others() -> None:
    # Imports inside functions and behind TYPE_CHECKING count: a circle that is hidden is one too.
    modules = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for package in ARROWS
        for path in _modules(package)
    }
    graph: dict[str, set[str]] = {module: set() for module in modules}
    for module, path in modules.items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            named: list[str] = []
            if isinstance(node, ast.Import):
                named = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                named = [f"{node.module}.{alias.name}" for alias in node.names] + [node.module or ""]
            graph[module] |= {name for name in named if name in modules and name != module}
    assert _circles(graph) == []


def test_importing_rag_and_indexes_loads_neither_torch_nor_streamlit() -> None:
    loaded = _loaded_by("import rag, indexes")
    assert {"rag", "indexes"} <= loaded
    assert not loaded & (HEAVY | {"streamlit"})


@pytest.mark.slow
def test_no_module_of_theirs_loads_them_either() -> None:
    names = [
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for package in ("rag", "indexes")
        for path in _modules(package)
        if path.name != "__main__.py" and not path.is_relative_to(ROOT / "rag" / "ui")
        if find_spec("fastapi") is not None or not path.is_relative_to(ROOT / "rag" / "api")
    ]
    loaded = _loaded_by("\n".join(f"import {name}" for name in names))
    assert not loaded & (HEAVY | {"streamlit"})
