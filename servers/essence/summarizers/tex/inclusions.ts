// The files that a TeX source includes.

/** Maximum number of files that one source includes. */
const MAX_INCLUSIONS = 500;
/** Maximum length of a name. */
const MAX_NAME = 200;

/**
 * Files of the distributions that sources of plain TeX and old LaTeX read; they are not beside the document.
 */
const DISTRIBUTED =
  /^(?:plain|amstex|amssym|amsppt|epsf|epsfig|texinfo|eplain|opmac|harvmac|lanlmac|psfig|pstricks|xy|tikz|pgf\w*|miniltx|graphicx|color|ifpdf|manmac|webmac|cwebmac|btxmac|null|inputenc|fontenc|glyphtounicode)(?:\.\w+)?$/;

/**
 * Collects the names of the files that a source reads by `\input`, `\include` and similar commands: those in
 * the directory of the source and below it. Other names are left out: absolute ones, those with `..`, and those
 * that macros compute.
 */
export class Inclusions {
  readonly #names = new Set<string>();

  /** Names with their suffix, relative to the source. */
  get names(): readonly string[] {
    return [...this.#names];
  }

  /** Adds a name as it is written; returns it with its suffix, or undefined if it is left out. */
  add(written: string): string | undefined {
    const name = written
      .trim()
      .replace(/^"(.*)"$/, '$1')
      .replace(/^(?:\.\/)+/, '');
    if (name === '' || name.length > MAX_NAME || !/^[\w.+@=,~ -]+(?:\/[\w.+@=,~ -]+)*$/.test(name))
      return undefined;
    if (name.split('/').some((part) => /^\.+$/.test(part)) || DISTRIBUTED.test(name)) return undefined;
    const file = /\.[A-Za-z_]\w{0,9}$/.test(name) ? name : `${name}.tex`;
    if (this.#names.size < MAX_INCLUSIONS) this.#names.add(file);
    return file;
  }
}
