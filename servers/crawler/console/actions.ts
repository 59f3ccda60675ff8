import type { FastifyRequest } from 'fastify';
import { RE2JS, RE2JSException } from 're2js';
import { z } from 'zod';
import { UsageError } from '../../../protocols/errors.js';
import { type Html, html } from '../../web/html.js';
import { checkpointSchema } from '../control.js';
import type { CrawlControl } from '../controller.js';
import type { CrawlState } from '../states.js';
import type { Fields } from './queries.js';

/** Maximum number of characters of a pattern. */
const MAX_PATTERN = 1024;

/** Outcome of an action: a sentence for people, figures for programs. */
export interface ActionOutcome {
  readonly text: string;
  /** Set if the state of the crawl does not allow the action. */
  readonly refused?: true;
  readonly data?: Readonly<Record<string, unknown>>;
}

/** Fields of a form or of a JSON object, all as text. */
export type ActionFields = ReadonlyMap<string, string>;

/** A row has all that the route, the page and the OpenAPI document need. */
export interface Action {
  readonly summary: string;
  readonly fields?: Fields;
  /** Its button on the page, enabled in these states of the crawl. */
  readonly button?: { readonly text: string; readonly states: readonly CrawlState[] };
  /** Its form on the page: the text of its button, its fields, and what it does. */
  readonly form?: { readonly text: string; readonly fields?: Html; readonly hint: string };
  /** Members of the answer beside `ok` and `text`. */
  readonly answer?: z.core.$ZodShape;
  run(control: CrawlControl, fields: ActionFields): ActionOutcome | Promise<ActionOutcome>;
}

const number = z.int().min(0);

/** Actions of an operator (CRAWL-5.6.6, 17, 20): `POST /api/NAME`. */
export const ACTIONS: Readonly<Record<string, Action>> = {
  pause: {
    summary: 'Pauses the crawl when the URIs in process are finished',
    button: { text: 'Pause', states: ['preparing', 'running', 'empty'] },
    run: (control) => {
      control.pause();
      return { text: 'The crawl pauses when the URIs in process are finished.' };
    },
  },
  resume: {
    summary: 'Continues a paused crawl',
    button: { text: 'Resume', states: ['pausing', 'paused'] },
    run: (control) => {
      control.resume();
      return { text: 'The crawl continues.' };
    },
  },
  checkpoint: {
    summary: 'Takes a checkpoint and verifies it',
    button: { text: 'Checkpoint', states: ['preparing', 'running', 'empty', 'pausing', 'paused'] },
    answer: { checkpoint: checkpointSchema },
    run: async (control) => {
      const checkpoint = await control.checkpoint();
      return { text: `Checkpoint ${checkpoint.name} is taken and verified.`, data: { checkpoint } };
    },
  },
  stop: {
    summary: 'Ends the crawl; pending URIs stay for the next run',
    run: (control) => {
      control.stop();
      return { text: 'The crawl ends. The remaining URIs stay for the next run.' };
    },
  },
  'force-wake': {
    summary: 'Wakes snoozed queues',
    form: {
      text: 'Wake all',
      hint: 'Snoozed queues continue immediately. Servers that requested a pause get a shorter one.',
    },
    run: (control) => {
      control.frontier.forceWake();
      return { text: 'Snoozed queues continue.' };
    },
  },
  'reconsider-retired': {
    summary: 'Lets retired queues continue',
    form: { text: 'Reconsider', hint: 'Retired queues may continue; budgets are read again.' },
    answer: { queues: number },
    run: async (control) => {
      const queues = await control.frontier.reconsiderRetired();
      return { text: `${count(queues, 'retired queue')} may continue.`, data: { queues } };
    },
  },
  'delete-uris': {
    summary: 'Deletes pending URIs',
    form: {
      text: 'Delete URIs',
      fields: html`<label>that match <input type="text" name="pattern" required maxlength="1024" autocapitalize="none" spellcheck="false"></label> <label>in queues that match <input type="text" name="queuePattern" maxlength="1024" autocapitalize="none" spellcheck="false"></label>`,
      hint: 'Regular expressions (RE2). They match anywhere in the URI and in the name of the queue. Without the second one all queues are searched.',
    },
    fields: {
      pattern: z.string().max(MAX_PATTERN).describe('Matches anywhere in the URI; RE2 syntax'),
      queuePattern: z.string().max(MAX_PATTERN).optional().describe('Of the class key of the queue'),
    },
    answer: { deleted: number },
    run: async (control, fields) => {
      const pattern = patternOf(fields, 'pattern');
      if (pattern === undefined) throw new UsageError('a pattern is required');
      const deleted = await control.deleteUris(pattern, patternOf(fields, 'queuePattern'));
      return { text: `${count(deleted, 'URI')} deleted.`, data: { deleted } };
    },
  },
  'kill-worker': {
    summary: 'Aborts the URI of a worker, which then fails with -7000',
    form: {
      text: 'Kill',
      fields: html`<label>worker <input type="text" name="worker" required inputmode="numeric" pattern="[0-9]{1,6}" size="6"></label>`,
      hint: 'Its URI ends with status -7000 (killed).',
    },
    fields: { worker: z.int().min(0).max(999_999).describe('Number of the worker') },
    run: (control, fields) => {
      const text = fields.get('worker') ?? '';
      if (!/^\d{1,6}$/.test(text)) throw new UsageError('the number of a worker is required');
      if (!control.workers.kill(Number(text))) return { refused: true, text: `Worker ${text} is idle.` };
      return { text: `The URI of worker ${text} was aborted.` };
    },
  },
};

/**
 * Returns the fields of a request's body, a form or a JSON object; other values than text and numbers are
 * omitted.
 */
export function fieldsOf({ body }: FastifyRequest): ActionFields {
  if (body instanceof URLSearchParams) return new Map(body);
  const fields = new Map<string, string>();
  if (typeof body !== 'object' || body === null) return fields;
  for (const [name, value] of Object.entries(body)) {
    if (typeof value === 'string' || typeof value === 'number') fields.set(name, String(value));
  }
  return fields;
}

/** Reads a pattern in RE2 syntax, which matches in linear time; undefined if the field is empty. */
function patternOf(fields: ActionFields, name: string): string | undefined {
  const pattern = fields.get(name) ?? '';
  if (pattern === '') return undefined;
  if (pattern.length > MAX_PATTERN) throw new UsageError(`a pattern has at most ${MAX_PATTERN} characters`);
  try {
    RE2JS.compile(pattern);
  } catch (cause) {
    if (!(cause instanceof RE2JSException)) throw cause;
    throw new UsageError(`not a regular expression: ${cause.message}`, { cause });
  }
  return pattern;
}

function count(number: number, noun: string): string {
  return `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`;
}
