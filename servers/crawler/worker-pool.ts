/**
 * CRAWL-1.5, 20.5: runs the workers as asynchronous tasks. Each repeats `step` until it returns false. The first failure stops all of them
 * through `abort` and is thrown.
 */
export async function runWorkers(
  count: number,
  step: (worker: number) => Promise<boolean>,
  abort: (reason: unknown) => void,
): Promise<void> {
  let failure: { readonly error: unknown } | undefined;
  const work = async (_: unknown, index: number): Promise<void> => {
    try {
      while (failure === undefined && (await step(index + 1)));
    } catch (error) {
      failure ??= { error };
      abort(error);
    }
  };
  await Promise.all(Array.from({ length: count }, work));
  if (failure !== undefined) throw failure.error;
}
