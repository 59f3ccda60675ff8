/**
 * What a command does, with its arguments and its options as commander passes them. A number is the exit
 * status.
 */
type Action = (...args: never[]) => Promise<number | undefined> | Promise<void>;

/**
 * Returns an action of commander that is loaded when the command runs, so that help and wrong options need no
 * server.
 */
export function lazyAction(load: () => Promise<Action>): (...args: unknown[]) => Promise<void> {
  return async (...args) => {
    const action = await load();
    const status = await action(...(args as never[]));
    if (status !== undefined) process.exitCode = status;
  };
}
