import { debugChannel, publishDebug } from '../../clients/fetch/debug-channel.js';
import { decodeSoif } from '../../protocols/soif/index.js';
import type { EssenceContext } from './context.js';
import type { EssenceInput, EssenceOutput } from './model.js';
import { type RecognitionStep, recognize } from './recognize.js';

// Debug sections 60 to 69 (G-150). The calling thread writes them, not the worker, and computes nothing that is
// not shown.

/** Sections 60 and 63: the gathered document, and how its type is recognized. */
export function debugDocument(input: EssenceInput, { rules, settings }: EssenceContext): void {
  if (!debugChannel.hasSubscribers) return;
  const { url, body, contentType, charset, lastModificationTime } = input;
  const bytes = body.length;
  publishDebug(60, 1, () => {
    const type = [contentType ?? 'no type declared', ...(charset === undefined ? [] : [charset])].join(', ');
    return `${url}: ${bytes} bytes, ${type}, modified ${lastModificationTime}`;
  });
  publishDebug(63, 1, () => {
    const steps: RecognitionStep[] = [];
    const { type } = recognize(input, rules, { access: settings.access, steps });
    return `${url}: type ${type}: ${steps.map(step).join('; ')}`;
  });
}

function step({ how, subject, type, rule, note }: RecognitionStep): string {
  const from = rule === undefined ? '' : ` (${rule.file} line ${rule.line})`;
  return `${how} ${JSON.stringify(subject)} says ${type ?? 'nothing'}${from}${note === undefined ? '' : `: ${note}`}`;
}

/** Sections 64 to 67, and 69: the summary. */
export function debugOutput(url: string, output: EssenceOutput): void {
  if (!debugChannel.hasSubscribers) return;
  const { type, rejected, soif, md5, exploded = [], rules = [], url: renamed } = output;
  publishDebug(64, 1, () =>
    rejected || soif === undefined
      ? `${url}: no summary, type ${type}`
      : `${url}: ${soif.length} bytes, ${attributesOf(soif).length} attributes, ${output.links.length} links`,
  );
  if (exploded.length > 0) {
    publishDebug(65, 1, () => `${url}: ${exploded.length} objects, the first ${exploded[0]!.url}`);
  }
  if (rules.length > 0) publishDebug(66, 1, () => `${url}: rules of lines ${rules.join(', ')} apply`);
  if (renamed !== undefined) publishDebug(66, 2, () => `${url}: its URL is now ${renamed}`);
  if (rules.length > 0 && soif !== undefined) {
    publishDebug(66, 5, () => `${url}: the object after the rules: ${Buffer.from(soif).toString('utf8')}`);
  }
  publishDebug(67, 1, () => `${renamed ?? url}: MD5 ${md5 === '' ? 'none' : md5}`);
  if (soif === undefined) return;
  publishDebug(69, 1, () => `@${type} { ${renamed ?? url}: ${soif.length} bytes`);
  publishDebug(69, 5, () => `${renamed ?? url}: ${attributesOf(soif).join(' ')}`);
  publishDebug(69, 9, () => Buffer.from(soif).toString('utf8'));
}

/** Names and sizes in bytes. */
function attributesOf(soif: Uint8Array): string[] {
  return decodeSoif(soif).attributes.map(({ name, value }) => `${name}{${value.length}}`);
}
