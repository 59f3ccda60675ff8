export * from './cookie-file.js';
export type { HttpEvent, HttpHead } from './events.js';
export type { Deviation, HttpField } from './head.js';
export { type HttpResponseLimits, HttpResponseReader } from './response-reader.js';
