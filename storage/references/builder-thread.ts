// The thread of a publication. Sorting and writing of a generation take seconds of processor and disk, which
// the owner's event loop is spared.
import { parentPort, workerData } from 'node:worker_threads';
import { type PublishedReferences, ReferencesBuilder } from './builder.js';
import { type BuilderData, type BuilderReply, type BuilderRequest, plainError } from './thread-messages.js';

/**
 * Answers requests in order. After a failure every answer is that failure, because rows are missing from then
 * on.
 */
function serve(
  port: NonNullable<typeof parentPort>,
  { data, memoryBytes, keepGenerations }: BuilderData,
): void {
  const abort = new AbortController();
  const reply = (message: BuilderReply): void => port.postMessage(message);
  let builder: ReferencesBuilder | undefined;
  let failure: BuilderReply | undefined;

  const perform = async (request: BuilderRequest): Promise<PublishedReferences | undefined> => {
    builder ??= await ReferencesBuilder.create(data, {
      memoryBytes,
      keepGenerations,
      signal: abort.signal,
      onProgress: (phase, done, total) => reply({ kind: 'progress', phase, done, total }),
    });
    if (request.kind === 'documents') for (const document of request.documents) builder.addDocument(document);
    if (request.kind === 'links') builder.addLinks(request.pairs);
    return request.kind === 'publish' ? builder.publish() : undefined;
  };
  const answer = async (request: BuilderRequest): Promise<void> => {
    try {
      if (request.kind === 'end') {
        await builder?.[Symbol.asyncDispose]();
        port.close();
        return;
      }
      const published = failure === undefined ? await perform(request) : undefined;
      reply(failure ?? { kind: 'done', published });
    } catch (error) {
      failure = { kind: 'failed', error: plainError(error) };
      // Nothing waits for an answer to `end`; the next publication removes what could not be removed now.
      if (request.kind === 'end') port.close();
      else reply(failure);
    }
  };
  let last = Promise.resolve();
  port.on('message', (request: BuilderRequest) => {
    if (request.kind === 'abort') abort.abort();
    else last = last.then(() => answer(request));
  });
}

if (parentPort !== null) serve(parentPort, workerData as BuilderData);
