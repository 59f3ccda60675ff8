// Loads nothing, because the command line shows these numbers in its help.
/** G-27, table of section 3. */
export const DEFAULT_URL_MAX = 250;
export const DEFAULT_HOST_MAX = 1;
/** Default of `Access-Delay` and of a RootNode's `Delay`, in seconds. */
export const DEFAULT_DELAY = 1;
