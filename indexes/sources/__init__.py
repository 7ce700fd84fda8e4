"""Where law comes from: one module a source; `registry` names them all."""
