import { parentPort, workerData } from 'node:worker_threads';
import { messageOf } from '../../../protocols/errors.js';
import { Mutex } from '../../../protocols/mutex.js';
import { compileEssence } from '../context.js';
import type { DraftPiece, Reading } from '../document.js';
import type { EssenceInput } from '../model.js';
import { recognize } from '../recognition/recognize.js';
import { mayReadInThread } from '../recognition/trust.js';
import { summarizeDocument } from '../summarize.js';
import { callingThreadMs, childrenMs, processMs, TimeBudget, threadId } from '../time-budget.js';
import {
  packOutput,
  transferable,
  type WorkerReply,
  type WorkerRequest,
  type WorkerSetup,
} from './worker-messages.js';

// Runs in a worker thread of EssencePool: compiles once, then summarizes one document per message.
const setup: WorkerSetup = workerData;
const context = compileEssence(setup.options, setup.sources);

const limitMs = setup.readingMs ?? Number.POSITIVE_INFINITY;
/** The other threads of a reader process work for the same document. */
const processorMs = setup.isolated === true ? () => processMs() + childrenMs() : callingThreadMs;

/** Replies carry no ID, so they are posted in the order of the requests. */
const mutex = new Mutex();

parentPort?.on('message', (request: WorkerRequest) => {
  void mutex.runExclusive(() => answer(request));
});

async function answer({ input }: WorkerRequest): Promise<void> {
  const reply = await replyTo(input);
  const transferred =
    'output' in reply ? [...transferable(reply.output.soif), ...transferable(reply.output.links)] : [];
  parentPort?.postMessage(reply, transferred);
}

async function replyTo(input: EssenceInput): Promise<WorkerReply> {
  try {
    const recognition = recognize(input, context.rules, { access: context.settings.access });
    if (setup.isolated !== true && !mayReadInThread(recognition, input.body.length, context, input.url)) {
      return { untrusted: true };
    }
    const reading: Reading = { time: new TimeBudget(limitMs, { processorMs }), keep };
    return { output: packOutput(await summarizeDocument(input, context, recognition, reading)) };
  } catch (error) {
    return { failure: messageOf(error) };
  }
}

/** A thread of the calling process reads small texts only, which it reads to their end. */
function keep(piece: DraftPiece): void {
  const message: WorkerReply = { piece };
  if (setup.isolated === true) parentPort?.postMessage(message);
}

const thread = threadId();
const ready: WorkerReply = { ready: true, thread };
parentPort?.postMessage(ready);
