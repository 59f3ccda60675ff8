import { parentPort, workerData } from 'node:worker_threads';
import { messageOf } from '../../protocols/errors.js';
import { Mutex } from '../../protocols/mutex.js';
import { compileEssence } from './context.js';
import type { EssenceInput } from './model.js';
import { recognize } from './recognize.js';
import { summarizeDocument } from './summarize.js';
import { mayReadInThread } from './trust.js';
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
    return { output: packOutput(await summarizeDocument(input, context, recognition)) };
  } catch (error) {
    return { failure: messageOf(error) };
  }
}

const ready: WorkerReply = { ready: true };
parentPort?.postMessage(ready);
