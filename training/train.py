"""`python -m training.train`: train a retriever from a recipe, or fit a learned fusion for an index."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from indexes.cli.progress import Bars
from indexes.cli.terminal import explain, guarded, say
from indexes.store import paths
from rag.errors import PandectError
from training.fusion import train as train_fusion
from training.fusion.learned import FITS, MOST, NETWORKS

EPILOG = """\
examples
  fit a learned fusion to the annotated questions of an index, and use it from then on if it is better:
    python -m training.train fusion my-law
  take it away again:
    python -m training.train fusion my-law --remove
"""


@guarded
def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; errors that a person can act on are printed without a traceback."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    typed = list(sys.argv[1:] if arguments is None else arguments)
    cure = "Make room, or give another --output."
    stopped = "the same command with --resume goes on from the last checkpoint"
    try:
        if typed[:1] != ["fusion"]:
            from training.neural.command import main as train  # numpy and ours, but only who trains needs it

            return train(typed)
        parsed = parser().parse_args(typed)
        cure = f"make room, or choose another place: PANDECT_HOME=FOLDER (now {paths.home()})"
        stopped = "the index is as it was"
        with closing(Bars()) as progress:
            for line in train_fusion.run(parsed, progress):
                progress.close()
                say(line)
    except PandectError as error:
        say(f"error: {error}", error=True)
        return 2
    except (OSError, MemoryError, UnicodeEncodeError) as error:  # a full disk, a folder not to be written
        say(f"error: {explain(error, cure)}", error=True)
        return 2
    except KeyboardInterrupt:
        say(f"stopped; {stopped}", error=True)
        return 130
    return 0


def parser() -> argparse.ArgumentParser:
    """Return the grammar of `fusion`."""
    top = argparse.ArgumentParser(
        prog="python -m training.train",
        description="Fit what an index may use besides what its build fits.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = top.add_subparsers(required=True, metavar="COMMAND", title="commands", dest="command")
    fusion = commands.add_parser(
        "fusion",
        help="fit a learned fusion (LambdaMART and networks) to an index's annotated questions",
        description="Fit boosted trees and small networks to what all systems say of the candidates for each "
        "annotated question, each asked of systems that have not learnt from it. The index uses them from "
        "then on if they rank held-back questions better than the fusion that it has does.",
    )
    add = fusion.add_argument
    add("name", help=f"of the index, as {paths.command('list')} shows it")
    add("--no-priors", action="store_true", help="do not count how often articles are cited")
    add("--rounds", type=int, default=300, help="trees of a fit (300)")
    add("--fits", type=int, default=FITS, help=f"with different seeds; what they say is averaged ({FITS})")
    help_text = f"beside the trees; 0 for trees alone ({NETWORKS})"
    add("--networks", type=int, default=NETWORKS, help=help_text)
    add("--asked", type=int, default=MOST, help=f"questions that it is fitted to, at most ({MOST})")
    add("--seed", type=int, default=1, help="of the first fit (1)")
    add("--always", action="store_true", help="use it even where it is not better")
    add(
        "--law",
        type=Path,
        help=f"for {paths.BUILTIN} alone: the official articles that its encoder was fitted to; what is "
        "fitted goes into the source, and make-builtin makes the index of it",
    )
    add("--remove", action="store_true", help="take the learned fusion away")
    return top


if __name__ == "__main__":
    sys.exit(main())
