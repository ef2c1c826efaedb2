import { z } from 'zod';
import { anyone, user } from '../../platform/access/caller.ts';
import { noContent, ok, operation } from '../../platform/http/operation.ts';
import { SiteObject, toSite } from './object.ts';
import { editLook, lookOf, removeIcon, SITE_SCOPE, saveIcon } from './site.ts';

const ICON_BYTES_MAX = 1024 * 1024;
/** Names are a part of mail headers and titles. */
const LINE = /^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]*$/u;

export const getSite = operation({
  id: 'get-site',
  tag: 'General',
  method: 'GET',
  path: '/site',
  says: 'Returns the name and look of the site.',
  access: anyone(),
  returns: ok(SiteObject),
  errors: [],
  handle: async (app, { cache }) => {
    cache(SITE_SCOPE);
    return toSite(app, await lookOf(app.db));
  },
});

export const editSite = operation({
  id: 'edit-site',
  tag: 'Staff',
  method: 'PUT',
  path: '/site',
  says: 'Changes the name and look of the site, on every page and in every mail at once. For administrators of the site.',
  access: user('write', 'staff'),
  body: z
    .object({
      name: z.string().trim().min(1).max(50).regex(LINE),
      summary: z.string().trim().max(250).regex(LINE),
      accent: z
        .string()
        .regex(/^#[0-9a-fA-F]{6}$/)
        .toLowerCase()
        .meta({ description: 'Any colour; the shades that pages use of it are always readable.' }),
    })
    .partial(),
  returns: ok(SiteObject),
  errors: ['USER_CANT_VIEW_ADMIN_ONLY'],
  handle: async (app, { caller, body }) => toSite(app, await editLook(app, caller, body)),
});

export const addSiteIcon = operation({
  id: 'add-site-icon',
  tag: 'Staff',
  method: 'POST',
  path: '/site/icon',
  says: 'Replaces the icon of the site. For administrators of the site.',
  access: user('write', 'staff'),
  files: { icon: { bytesMax: ICON_BYTES_MAX, required: true, says: 'A square picture of at least 64 x 64 pixels.' } },
  returns: ok(SiteObject),
  errors: ['USER_CANT_VIEW_ADMIN_ONLY', 'FILE_CORRUPTED'],
  handle: async (app, { caller, files }) => toSite(app, await saveIcon(app, caller, files['icon'])),
});

export const deleteSiteIcon = operation({
  id: 'delete-site-icon',
  tag: 'Staff',
  method: 'DELETE',
  path: '/site/icon',
  says: 'Removes the icon of the site. For administrators of the site.',
  access: user('write', 'staff'),
  returns: noContent,
  errors: ['USER_CANT_VIEW_ADMIN_ONLY'],
  handle: (app, { caller }) => removeIcon(app, caller),
});

export const siteOperations = [getSite, editSite, addSiteIcon, deleteSiteIcon];
