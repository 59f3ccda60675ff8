// Output of a command as a page that looks like a terminal.
import { type Content, Html, html } from '../../servers/web/html.js';

/** The graphic renditions that commands use (ECMA-48, 8.3.117) as CSS. */
const STYLES: Readonly<Record<string, string>> = {
  1: 'font-weight: bold',
  2: 'color: #8b949e',
  31: 'color: #ff7b72',
  32: 'color: #7ee787',
  33: 'color: #e3b341',
};

const STYLE = new Html(`<style>
  body { margin: 0; background: #0d1117; }
  pre { margin: 0; padding: 16px 20px; color: #e6edf3; font: 12px/1.5 'DejaVu Sans Mono', monospace; white-space: pre-wrap; }
</style>`);

/** Renders text with escape sequences of colors. */
export function terminalPage(text: string): string {
  const parts: Content[] = [];
  let style = '';
  for (const part of text
    .replaceAll('\r', '')
    .split(/\x1b\[([\d;]*)m/)
    .entries()) {
    const [i, content] = part;
    if (i % 2 === 1) style = STYLES[content] ?? '';
    else parts.push(style === '' ? content : html`<span style="${style}">${content}</span>`);
  }
  return html`<!doctype html><html lang="en"><title>Terminal</title>${STYLE}<pre>${parts}</pre></html>`.text;
}
