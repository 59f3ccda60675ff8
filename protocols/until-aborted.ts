// Stops waiting for work that may ignore its signal.

/** Returns the result of an action; throws the signal's reason as soon as it is aborted. The action may go on; what it returns or throws is lost. */
export function untilAborted<T>(action: () => Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    if (signal.aborted) {
      onAbort();
      return;
    }
    signal.addEventListener('abort', onAbort, { once: true });
    action()
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', onAbort));
  });
}
