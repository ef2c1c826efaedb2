/** The colours of a game's theme. */
export const COLOURS = ['primary', 'dark', 'light', 'success', 'warning', 'danger'] as const;
