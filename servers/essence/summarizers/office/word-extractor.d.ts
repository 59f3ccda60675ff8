/** The used part of the library's interface; the package has no types. */
declare module 'word-extractor' {
  interface WordDocument {
    getBody(): string;
    getFootnotes(): string;
    getEndnotes(): string;
    getHeaders(): string;
  }
  class WordExtractor {
    extract(file: Buffer): Promise<WordDocument>;
  }
  export = WordExtractor;
}
