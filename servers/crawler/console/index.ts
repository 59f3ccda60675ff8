export { CrawlConsole, type CrawlConsoleOptions } from './console.js';
export { CONSOLE_FILE, type ConsoleFile, readConsoleFile } from './console-file.js';
export type { Sample } from './history.js';
