export { CrawlConsole } from './console.js';
export { readConsoleFile } from './console-file.js';
