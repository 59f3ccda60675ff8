export { type BackupReport, backUp, restore } from './backup.js';
