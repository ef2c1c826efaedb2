/** Bits of `community_options` of games and mods: users may be invited to a preview, or register with its link. */
export const ALLOW_PREVIEWS = 64;
export const ALLOW_PREVIEW_URL = 128;

/** Whether a previewer still has access: an invitation and a registration each need their option to be on. */
export const isPreviewOpen = (preview: { invited_by: number | null; community_options: number }): boolean =>
  (preview.community_options & (preview.invited_by === null ? ALLOW_PREVIEW_URL : ALLOW_PREVIEWS)) !== 0;

/** Whether an edit turns previews on. */
export const enablesPreviews = (before: number, after = before): boolean =>
  (after & ~before & (ALLOW_PREVIEWS | ALLOW_PREVIEW_URL)) !== 0;
