"""All studies, in the order of the papers."""

from importlib import import_module

from mercer_studies.study import Study

PAPERS = {  # module, which is also the name on the command line, and citation
    "mao2010": "Mao and Tsang, Parameter-free spectral kernel learning (UAI 2010)",
    "abbasnejad2010": "Abbasnejad, Ramachandram and Mandava, An unsupervised approach "
    "to learn the kernel functions (2010)",
    "dai2007": "Dai and Yeung, Kernel selection for semi-supervised kernel machines "
    "(ICML 2007)",
    "hoi2006": "Hoi, Lyu and Chang, Learning the unified kernel machines for "
    "classification (KDD 2006)",
    "zhuang2009": "Zhuang, Tsang and Hoi, SimpleNPKL: simple non-parametric kernel "
    "learning (ICML 2009)",
}


def studies() -> list[Study]:
    """Return every study that can be run."""
    found: list[Study] = []
    for name in PAPERS:
        found += import_module(f"mercer_studies.{name}").STUDIES
    return found
