"""The container files of docs/deploy, by the linters and schemas of their formats; what they name exists."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

pytest.importorskip("check_jsonschema", reason="brings the schema of compose: pip install '.[dev]'")
pytest.importorskip("kubernetes_validate", reason="brings Kubernetes' schemas: pip install '.[dev]'")

import kubernetes_validate
from check_jsonschema.builtin_schemas import get_builtin_schema
from jsonschema import validators
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from indexes.formats.limits import limits as import_limits
from rag.answer.generation.settings import read as model_settings
from rag.feedback import from_environment as feedback
from tests.paths import ROOT

DEPLOY = ROOT / "docs" / "deploy"
SETTINGS = (ROOT / "docs" / "operate.md").read_text(encoding="utf-8").partition("## Every setting")[2]
HADOLINT = Path(sys.executable).parent / "hadolint"
CADDY = shutil.which("caddy")
VERSIONS = kubernetes_validate.utils.all_versions()


def read_yaml(path: Path) -> dict[str, Any]:
    """Read a file as compose and kubectl do: a key that stands twice is an error."""
    value: dict[str, Any] = YAML(typ="safe").load(path)
    return value


def dockerfile_faults(folder: Path) -> Iterator[str]:
    """Yield what hadolint says, and what it does not ask."""
    if not HADOLINT.exists():
        pytest.skip("no hadolint for this system among the packages of the extra [dev]")
    file = folder / "Dockerfile"
    command = [HADOLINT, "--no-color", "--disable-ignore-pragma", file]
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    if said.returncode != 0:
        yield said.stdout
        yield said.stderr
    lines = file.read_text(encoding="utf-8").splitlines()
    final = lines[max(i for i, line in enumerate(lines) if line.startswith("FROM")) :]
    for line in lines:
        if line.startswith("COPY") and "--from" not in line and not (ROOT / line.split()[1]).exists():
            yield f"{line}: there is no such file"
        if line.startswith("ADD"):
            yield f"{line}: an image is made of what is here"
        if line.startswith("FROM") and not re.search(r":(\d|\$\{PYTHON\})", line):
            yield f"{line}: no version"
    if any(line.startswith("COPY . ") for line in final):
        yield "the clone itself is no part of the image"
    if [re.fullmatch(r"USER [1-9]\d*", line) for line in final if line.startswith("USER")][-1:] in (
        [],
        [None],
    ):
        yield "the last USER is no number but 0"  # a name says nothing to Kubernetes' runAsNonRoot
    if not re.search(r"^HEALTHCHECK .*\n.*/health'", "\n".join(final), re.MULTILINE):
        yield "no HEALTHCHECK of /health"


def compose_faults(folder: Path) -> Iterator[str]:
    """Yield what the Compose Specification says of the files, alone and merged, and undefined names."""
    files = [folder / "compose.yaml", folder / "qdrant.yaml"]  # read together, as COMPOSE_FILE names them
    first, second = (read_yaml(file) for file in files)
    schema = get_builtin_schema("vendor.compose-spec")
    check, whole = validators.validator_for(schema)(schema).iter_errors, merged(first, second)
    wrong = [error for part in (first, second, whole) for error in check(part)]
    if wrong:  # names are looked up in what has the right shape
        yield from (f"{error.json_path}: {error.message}" for error in wrong)
        return
    yield from project_faults(first, folder)
    yield from project_faults(whole, folder)
    for name in sorted(
        {each for file in files for each in re.findall(r"\$\{(\w+)", file.read_text("utf-8"))}
    ):
        if f"`{name}`" not in SETTINGS:
            yield f"{name} is no setting of docs/operate.md"


def merged(part: Any, over: Any, key: str = "") -> Any:
    """Merge as compose does: mappings by key, lists one after the other, all else is the later one."""
    if isinstance(part, Mapping) and isinstance(over, Mapping):
        both = {name: merged(part[name], over[name], name) for name in part.keys() & over.keys()}
        return {**part, **over, **both}
    if isinstance(part, list) and isinstance(over, list) and key not in ("command", "entrypoint", "test"):
        return [*part, *(each for each in over if each not in part)]
    return over


def project_faults(project: Mapping[str, Any], folder: Path) -> Iterator[str]:
    """Yield which names of a project nobody has defined, and which nobody uses."""
    kinds, services = ("services", "networks", "volumes", "secrets"), project["services"]
    defined = {(kind, name) for kind in kinds for name in project.get(kind) or ()}
    used = {("services", name) for name in services}
    for name, service in services.items():
        named = {(kind, each) for kind, key in NAMED.items() for each in service.get(key) or ()}
        named |= {("volumes", each) for each in mounted(service) if not each.startswith((".", "/"))}
        used |= named
        yield from (f"{name}: {each} is not among the {kind}" for kind, each in sorted(named - defined))
        yield from (f"{name}: there is no {each.name}" for each in read(service, folder) if not each.exists())
        if "image" not in service and "context" not in service.get("build", {}):
            yield f"{name}: nothing says what it is made of"
        for other in awaited(service):
            if not tells_its_health(services.get(other, {})):
                yield f"{name}: waits for {other}, which has no health check"
    yield from (f"nobody uses {name} of the {kind}" for kind, name in sorted(defined - used))


NAMED = {"services": "depends_on", "networks": "networks", "secrets": "secrets"}  # by these keys of a service


def mounted(service: Mapping[str, Any]) -> list[str]:
    """Return the volumes and the files that a service mounts."""
    return [each.partition(":")[0] for each in service.get("volumes") or ()]


def read(service: Mapping[str, Any], folder: Path) -> list[Path]:
    """Return the files of the clone that a service is made of."""
    build = service.get("build", {})
    image = [folder / build["context"] / build["dockerfile"]] if "dockerfile" in build else []
    return image + [folder / each for each in mounted(service) if each.startswith(".")]


def awaited(service: Mapping[str, Any]) -> list[str]:
    """Return the services that must be well before this one starts."""
    others = service.get("depends_on", {})
    conditions = others.items() if isinstance(others, Mapping) else ()
    return [name for name, how in conditions if how["condition"] == "service_healthy"]


def tells_its_health(service: Mapping[str, Any]) -> bool:
    """Return whether a service, or its image, has a health check."""
    return service.get("image") == "pandect" or "healthcheck" in service


def kubernetes_faults(folder: Path, version: str = VERSIONS[-1]) -> Iterator[str]:
    """Yield what the schemas of a version of Kubernetes say, and which names nobody has defined."""
    items = read_yaml(folder / "kubernetes.yaml")["items"]
    yield from manifest_faults(items, version)
    of: dict[str, dict[str, Any]] = {}
    for item in items:
        of.setdefault(item["kind"], {})[item["metadata"]["name"]] = item.get("spec")
    pods = []  # labels and port
    for name, spec in of["Deployment"].items():
        pod, labels = spec["template"]["spec"], spec["template"]["metadata"]["labels"]
        pods.append((labels, pod["containers"][0]["ports"][0]["containerPort"]))
        if spec["selector"]["matchLabels"] != labels:
            yield f"{name}: selects pods that it does not make"
        yield from (f"{name}: {fault}" for fault in pod_faults(pod, of["ConfigMap"]))
    for name, spec in of["Service"].items():
        if (spec["selector"], spec["ports"][0]["port"]) not in pods:
            yield f"{name}: a Service of no pod"
    for name, spec in of["HorizontalPodAutoscaler"].items():
        if spec["scaleTargetRef"]["name"] not in of["Deployment"]:
            yield f"{name}: scales no Deployment"


def manifest_faults(items: list[dict[str, Any]], version: str) -> Iterator[str]:
    """Yield what the schemas say; strict: they know every key."""
    for item in items:
        try:
            kubernetes_validate.validate(item, version, strict=True)
        except kubernetes_validate.SchemaNotFoundError as error:
            yield error.message
        except kubernetes_validate.ValidationError as error:
            yield f"{item['metadata']['name']}: {'.'.join(map(str, error.path))}: {error.message}"


def pod_faults(pod: Mapping[str, Any], maps: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a pod names that is not there, and what is left open."""
    [container] = pod["containers"]
    for source in container["envFrom"]:
        if source["configMapRef"]["name"] not in maps:
            yield f"no ConfigMap {source['configMapRef']['name']}"
    if {each["name"] for each in container["volumeMounts"]} != {each["name"] for each in pod["volumes"]}:
        yield "its mounts are not its volumes"
    for probe in ("readinessProbe", "livenessProbe"):
        if container[probe]["httpGet"]["port"] != container["ports"][0]["containerPort"]:
            yield f"its {probe} asks another port"
    if not (
        pod["securityContext"]["runAsNonRoot"] and container["securityContext"]["readOnlyRootFilesystem"]
    ):
        yield "it is not shut in"


def caddyfile_faults(folder: Path) -> Iterator[str]:
    """Yield what Caddy says."""
    if CADDY is None:
        pytest.skip("no Caddy on the PATH: apt-get install caddy")
    command = [CADDY, "validate", "--config", str(folder / "Caddyfile"), "--adapter", "caddyfile"]
    with TemporaryDirectory() as home:  # Caddy makes an authority there
        environ = {"PATH": "/usr/bin:/bin", "HOME": home, "PANDECT_PASSWORD_HASH": "$2a$14$" + 53 * "x"}
        said = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    if said.returncode != 0 or "not formatted" in said.stderr:
        yield said.stderr


FAULTS = {
    "Dockerfile": dockerfile_faults, "compose.yaml": compose_faults, "qdrant.yaml": compose_faults,
    "kubernetes.yaml": kubernetes_faults, "Caddyfile": caddyfile_faults,
}  # fmt: skip
BROKEN = {  # file -> what stands there, what breaks it, what is told
    "Dockerfile": [
        ("EXPOSE 8501", "EXPSE 8501", "unexpected 'E'"),
        ("EXPOSE 8501", "ENV API_KEY=abc", "DL3064"),
        ("--from=build", "--from=bild", "DL3022"),
        ("&& rm /opt", "&& rm $gone/opt", "SC2086"),
        ("python:${PYTHON}-slim-bookworm\nRUN", "python\nRUN", "DL3006"),
        ("python:${PYTHON}-slim-bookworm\nRUN", "python:slim\nRUN", "FROM python:slim: no version"),
        ("COPY app.py", "COPY ap.py", "COPY ap.py /app/: there is no such file"),
        ("COPY app.py", "ADD https://example.org/app.py", "made of what is here"),
        ("COPY app.py /app/", "COPY . .", "the clone itself"),
        ("USER 10001", "USER root", "DL3002"),
        ("USER 10001\n", "", "the last USER"),
        ("HEALTHCHECK --start-period=60s --interval=30s --timeout=10s", "RUN true", "no HEALTHCHECK"),
    ],
    "compose.yaml": [
        ("read_only: true", "read_onli: true", "'read_onli' was unexpected"),
        ("mem_limit: 2g", "mem_limit: [2g]", "$.services.page.mem_limit"),
        ("mem_limit: 2g", "init: true\n  init: true", 'duplicate key "init"'),
        ("networks: [inside]", "networks: [insde]", "page: insde is not among the networks"),
        ('"caddy:/config"', '"cady:/config"', "proxy: cady is not among the volumes"),
        ('"caddy:/config"', '"law:/config"', "nobody uses caddy of the volumes"),
        ("secrets: [api-keys]", "secrets: [keys]", "api: keys is not among the secrets"),
        ("      page:\n", "      proxy:\n", "waits for proxy, which has no health check"),
        ("./Caddyfile:", "./Cadyfile:", "proxy: there is no Cadyfile"),
        ("deploy/Dockerfile", "deploy/Dockerfil", "page: there is no Dockerfil"),
        ("${PANDECT_USER:-desk}", "${PANDECT_USR:-desk}", "PANDECT_USR is no setting"),
    ],
    "qdrant.yaml": [
        ("depends_on: [qdrant-1]", "depends_on: [qdrant]", "qdrant-2: qdrant is not among the services"),
        ("aliases: [qdrant]", "aliases: qdrant", "$.services['qdrant-1'].networks"),
        ("  page: *searching", "  pag: *searching", "pag: nothing says what it is made of"),
    ],
    "kubernetes.yaml": [
        ("runAsUser:", "runAsUsr:", "'runAsUsr' was unexpected"),
        ("containerPort: 8501", "containerPort: web", "'web' is not of type 'integer'"),
        ("autoscaling/v2\n", "autoscaling/v2beta2\n", "find schema for kind HorizontalPodAutoscaler"),
        ("runAsUser: 10001", "runAsUser: 1\n            runAsUser: 2", 'duplicate key "runAsUser"'),
        ("{configMapRef: {name: pandect}}", "{configMapRef: {name: x}}", "pandect-page: no ConfigMap x"),
        ("{name: keys, secret", "{name: key, secret", "pandect-api: its mounts are not its volumes"),
        ("/v1/ready, port: 8600", "/v1/ready, port: 8601", "its readinessProbe asks another port"),
        ("runAsNonRoot: true", "runAsNonRoot: false", "pandect-page: it is not shut in"),
        ("selector: {app: pandect-api}", "selector: {app: api}", "pandect-api: a Service of no pod"),
        ("ports: [{port: 8501}]", "ports: [{port: 80}]", "pandect-page: a Service of no pod"),
        ("matchLabels: {app: pandect-api}", "matchLabels: {app: x}", "pandect-api: selects pods"),
        ("name: pandect-page}\n", "name: page}\n", "pandect-page: scales no Deployment"),
    ],
    "Caddyfile": [
        ("flush_interval -1", "flush_intervall -1", "flush_intervall"),
        ("\thandle @api {", "handle @api {", "not formatted"),
    ],
}


def faults_of(file: str, folder: Path) -> list[str]:
    try:
        return list(FAULTS[file](folder))
    except YAMLError as error:
        return [str(error)]


@pytest.mark.parametrize("file", FAULTS)
def test_each_file_is_what_its_program_reads(file: str) -> None:
    assert faults_of(file, DEPLOY) == []


def test_the_manifests_are_of_the_oldest_kubernetes_too_that_schemas_are_here_of() -> None:
    assert VERSIONS[0] != VERSIONS[-1]
    assert list(kubernetes_faults(DEPLOY, VERSIONS[0])) == []


@pytest.mark.parametrize(
    ("file", "was", "broken", "told"), [(file, *each) for file, all_ in BROKEN.items() for each in all_]
)
def test_a_broken_file_is_told(file: str, was: str, broken: str, told: str, tmp_path: Path) -> None:
    folder = tmp_path / "docs" / "deploy"
    shutil.copytree(DEPLOY, folder)
    text = (folder / file).read_text(encoding="utf-8")
    assert was in text
    (folder / file).write_text(text.replace(was, broken), encoding="utf-8")
    assert told in "\n".join(faults_of(file, folder))


def test_a_point_lies_on_two_of_three_nodes_that_find_each_other() -> None:
    services = read_yaml(DEPLOY / "qdrant.yaml")["services"]
    nodes = {name: each for name, each in services.items() if name.startswith("qdrant-")}

    assert len(nodes) == 3
    client = re.search(r"qdrant-client>=(\d+\.\d+),", (ROOT / "pyproject.toml").read_text())
    assert client
    assert all(each["image"].startswith(f"qdrant/qdrant:v{client[1]}.") for each in nodes.values())
    assert {volume.partition(":")[0] for each in nodes.values() for volume in each["volumes"]} == set(nodes)
    assert {
        each["environment"]["QDRANT__STORAGE__COLLECTION__REPLICATION_FACTOR"] for each in nodes.values()
    } == {"2"}
    assert all(f"http://{name}:6335" in each["command"] for name, each in nodes.items())
    assert services.keys() - nodes.keys() < read_yaml(DEPLOY / "compose.yaml")["services"].keys()


def test_every_container_is_shut_in_and_the_proxy_alone_can_be_reached() -> None:
    services = read_yaml(DEPLOY / "compose.yaml")["services"]

    assert set(services) == {"page", "api", "proxy"}
    for service in services.values():
        assert service["read_only"]
        assert service["cap_drop"] == ["ALL"]
    assert [name for name, each in services.items() if "ports" in each] == ["proxy"]


def test_every_setting_named_is_one_that_is_read() -> None:
    sources = "".join(
        path.read_text(encoding="utf-8")
        for part in ("rag", "indexes")
        for path in (ROOT / part).rglob("*.py")
    )
    named: set[str] = set(read_yaml(DEPLOY / "kubernetes.yaml")["items"][0]["data"])
    for service in read_yaml(DEPLOY / "compose.yaml")["services"].values():
        named |= set(service["environment"]) if service["image"] == "pandect" else set()

    assert {name for name in named if name.startswith("PANDECT_") and f'"{name}"' not in sources} == set()


def test_compose_hands_every_setting_on_and_an_empty_one_is_none() -> None:
    pytest.importorskip("fastapi", reason="the API's packages are not installed: pip install '.[api]'")
    from rag.api.access import access as api_settings

    services = read_yaml(DEPLOY / "compose.yaml")["services"]
    table = re.findall(r"`(PANDECT_\w+)`", SETTINGS.partition("Settings of the proxy")[0])
    given = {name for part in ("page", "api") for name in services[part]["environment"]}
    empty = dict.fromkeys(table, "")

    assert set(table) - given == {"PANDECT_HOME"}  # the volume, which the image names
    assert {f"${{{name}:-}}" for name in given if name.startswith("PANDECT_MODEL")} <= set(
        services["page"]["environment"].values()
    )
    assert (model_settings(empty), feedback(empty), api_settings(empty).seconds) == (None, None, 30)
    assert import_limits(empty) == import_limits({})


def test_no_secret_of_a_host_is_in_git_or_in_the_image() -> None:
    ignored = (ROOT / ".gitignore").read_text("utf-8").split()
    image = (DEPLOY / "Dockerfile.dockerignore").read_text("utf-8").split()

    secrets = ("docs/deploy/.env", "docs/deploy/api-keys", ".streamlit/secrets.toml")
    assert {f"/{name}" for name in secrets} <= set(ignored)
    assert {"docs", ".streamlit/secrets.toml"} <= set(image)
    assert not [line for line in image if line.startswith("!")]
