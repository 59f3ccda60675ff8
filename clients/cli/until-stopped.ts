/** Resolves at SIGINT or SIGTERM. A second signal ends the process at once, as people expect of Ctrl-C. */
export async function untilStopped(): Promise<void> {
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
}
