/** Directory below a mirror's own: the Gatherer's data and the mirror's index. */
export const MIRROR_DATA = '.harvest';
