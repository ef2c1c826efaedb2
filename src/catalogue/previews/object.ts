import { z } from 'zod';
import { toUserObject, UserObject } from '../../people/users/object.ts';
import type { App } from '../../platform/app.ts';
import { Id, Timestamp } from '../../platform/http/objects.ts';
import type { Portal } from '../../platform/vocabulary/game-platforms.ts';
import type { Previewer, PreviewLink } from './previews.ts';

export const PreviewerObject = z
  .object({
    user: UserObject,
    invited_by: UserObject.nullable().meta({ description: 'Null for users who registered with the link.' }),
    date_added: Timestamp,
  })
  .meta({ id: 'Previewer' });

export const PreviewLinkObject = z
  .object({
    resource_type: z.enum(['games', 'mods']),
    resource_id: Id,
    hash: z.string().nullable().meta({ description: 'Null while nobody can register with it.' }),
    preview_url: z.string().nullable(),
  })
  .meta({ id: 'PreviewLink' });

export const toPreviewer = (
  app: App,
  { user, inviter, date_added }: Previewer,
  portal: Portal | undefined,
): z.input<typeof PreviewerObject> => ({
  user: toUserObject(app, user, portal),
  invited_by: inviter ? toUserObject(app, inviter, portal) : null,
  date_added,
});

export const toPreviewLink = ({ resource, id, hash, address }: PreviewLink): z.input<typeof PreviewLinkObject> => ({
  resource_type: resource,
  resource_id: id,
  hash,
  preview_url: address,
});
