// Decodes files and outputs whose lines may be URLs without losing the bytes of a URL.
import { isAscii, isUtf8 } from 'node:buffer';
import { bufferOf } from '../ascii.js';
import { decodeText } from './text.js';

const BEYOND_ASCII = /[\x80-\xff]/g;

/**
 * Decodes lines that may be URLs: a list of URLs, the RootNodes of a configuration. Lines are UTF-8. In a line
 * that is not, and that begins like a URL, bytes beyond ASCII are percent-encoded, so that the server gets
 * exactly these bytes; any other line is windows-1252 (SOIF-7.4). A replacement character instead would make
 * one URL of two.
 */
export function decodeUrlLines(bytes: Uint8Array): string {
  const buffer = bufferOf(bytes);
  if (isAscii(buffer)) return buffer.toString('latin1');
  if (isUtf8(buffer)) return buffer.toString('utf8');
  return buffer.toString('latin1').split('\n').map(decodeLine).join('\n');
}

function decodeLine(line: string): string {
  const bytes = Buffer.from(line, 'latin1');
  if (isUtf8(bytes)) return bytes.toString('utf8');
  if (!/^\s*[a-z][a-z0-9+.-]*:\/\//i.test(line)) return decodeText(bytes);
  return line.replace(BEYOND_ASCII, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`);
}
