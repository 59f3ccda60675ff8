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
export { type ReadJournalOptions, readJournal } from './journal-reader.js';
export { JOURNAL_FILE, JournalWriter, type JournalWriterOptions } from './journal-writer.js';
