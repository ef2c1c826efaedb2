/** Where a browser remembers its upload to a mod, so that a reload continues it. */
export const uploadKey = (place: string) => `modstead-upload:${place}`;
