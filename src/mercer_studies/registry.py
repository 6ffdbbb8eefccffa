"""All studies, in the order of the papers."""

from importlib import import_module

from mercer_studies.study import Study

MODULES = {
    "000": "mao2010",
    "001": "abbasnejad2010",
    "002": "dai2007",
    "003": "hoi2006",
    "004": "zhuang2009",
}
PAPERS = {
    "000": "Mao and Tsang, Parameter-free spectral kernel learning (UAI 2010)",
    "001": "Abbasnejad, Ramachandram and Mandava, An unsupervised approach to "
    "learn the kernel functions (2010)",
    "002": "Dai and Yeung, Kernel selection for semi-supervised kernel machines "
    "(ICML 2007)",
    "003": "Hoi, Lyu and Chang, Learning the unified kernel machines for "
    "classification (KDD 2006)",
    "004": "Zhuang, Tsang and Hoi, SimpleNPKL: simple non-parametric kernel learning "
    "(ICML 2009)",
}


def studies() -> list[Study]:
    """Return every study that can be run."""
    found: list[Study] = []
    for name in MODULES.values():
        found += import_module(f"mercer_studies.{name}").STUDIES
    return found
