export { type BackupReport, backUp, restore } from './backup.js';
export { type BlobBackupReport, backUpToBlobs, restoreFromBlobs } from './blob-backup.js';
