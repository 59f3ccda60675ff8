export {
  type ImportJournalOptions,
  type ImportProgress,
  importJournal,
  type JournalSink,
} from './import-journal.js';
export {
  formatJournalLine,
  type JournalEvent,
  type JournalUri,
  type PathTag,
  parseJournalLine,
  type UriTag,
} from './journal-line.js';
export { type NumberedLine, type ReadJournalOptions, readJournal, readLines } from './journal-reader.js';
export { JOURNAL_FILE, JournalWriter, type JournalWriterOptions } from './journal-writer.js';
