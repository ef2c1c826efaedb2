/** The name by which clients show, remove and reorder a picture. It is derived from the picture's content. */
export const filenameOf = (folder: string): string => `${folder.slice('images/'.length).split('-')[0]}.png`;
