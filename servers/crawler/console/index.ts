export { CrawlConsole } from './console.js';
export { readConsoleFile } from './console-file.js';
export { openApiDocument } from './openapi.js';
