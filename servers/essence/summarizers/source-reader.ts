/** A position in a source, which sticky expressions move. */
export class SourceReader {
  /** Index of the next character. */
  index: number;

  constructor(
    readonly source: string,
    index = 0,
  ) {
    this.index = index;
  }

  /** Consumes the match of a sticky expression at the position. */
  match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.index;
    const found = pattern.exec(this.source);
    if (found === null) return undefined;
    this.index += found[0].length;
    return found;
  }
}
