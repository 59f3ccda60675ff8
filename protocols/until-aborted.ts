// Stops waiting for work that may ignore its signal.

/**
 * Returns the result of an action; throws the signal's reason as soon as it is aborted. The action may go on;
 * what it returns or throws is lost. It does not begin if the signal is aborted already.
 */
export function untilAborted<T>(action: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const onAbort = (): void => reject(signal?.reason);
    signal?.addEventListener('abort', onAbort, { once: true });
    action()
      .then(resolve, reject)
      .finally(() => signal?.removeEventListener('abort', onAbort));
  });
}
