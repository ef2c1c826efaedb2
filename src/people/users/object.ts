import { z } from 'zod';
import type { App } from '../../platform/app.ts';
import { Id, Integer, Timestamp } from '../../platform/http/objects.ts';
import type { Portal } from '../../platform/vocabulary/game-platforms.ts';
import type { UserRow } from './users.ts';

export const AvatarObject = z
  .object({
    filename: z.string(),
    original: z.string(),
    thumb_50x50: z.string(),
    thumb_100x100: z.string(),
  })
  .meta({ id: 'Avatar' });

export const UserObject = z
  .object({
    id: Id,
    name_id: z.string(),
    username: z.string(),
    display_name_portal: z.string().nullable(),
    date_online: Timestamp,
    date_joined: Timestamp,
    avatar: AvatarObject,
    timezone: z.string(),
    language: z.string(),
    profile_url: z.string(),
  })
  .meta({ id: 'User' });

/** The caller's own user object. */
export const UserStatusObject = UserObject.extend({
  country: z.string(),
  privacy_options: Integer,
  status: Integer,
  monetization_status: Integer,
}).meta({ id: 'UserStatus' });

/** The private part of an account. */
export const AccountObject = z
  .object({
    id: Id,
    email: z.string().nullable(),
    birth_date: z.string().nullable(),
    mature_content: z.boolean(),
    date_closed: Timestamp.nullable(),
  })
  .meta({ id: 'Account' });

export const toAccountObject = (user: UserRow): z.input<typeof AccountObject> => ({
  id: user.id,
  email: user.email,
  birth_date: user.birth_date,
  mature_content: user.mature_content === 1,
  date_closed: user.date_closed,
});

type ShownUser = Pick<
  UserRow,
  'id' | 'name_id' | 'username' | 'date_online' | 'date_joined' | 'avatar' | 'timezone' | 'language' | 'portal_names'
>;

/** The name on the portal of the request, if the user has linked it. */
function nameOn(portal: Portal | undefined, { portal_names }: ShownUser): string | null {
  if (portal === undefined || portal_names === '{}') return null;
  return (JSON.parse(portal_names) as Partial<Record<Portal, string>>)[portal] || null;
}

export function toAvatar(app: App, avatar: string | null): z.input<typeof AvatarObject> {
  const address = (name: string) => app.addresses.file(`${avatar ?? 'placeholder/avatar'}/${name}`);
  return {
    filename: 'avatar.png',
    original: address('original.png'),
    thumb_50x50: address('thumb_50x50.png'),
    thumb_100x100: address('thumb_100x100.png'),
  };
}

export function toUserObject(app: App, user: ShownUser, portal: Portal | undefined): z.input<typeof UserObject> {
  return {
    id: user.id,
    name_id: user.name_id,
    username: user.username,
    display_name_portal: nameOn(portal, user),
    date_online: user.date_online,
    date_joined: user.date_joined,
    avatar: toAvatar(app, user.avatar),
    timezone: user.timezone,
    language: user.language,
    profile_url: app.addresses.user(user.name_id),
  };
}

export function toUserStatusObject(
  app: App,
  user: UserRow,
  portal: Portal | undefined,
): z.input<typeof UserStatusObject> {
  return {
    ...toUserObject(app, user, portal),
    country: user.country,
    privacy_options: user.privacy_options,
    status: user.status,
    monetization_status: user.monetization_status,
  };
}

const CACHED_MAX = 10_000;
const cached = new Map<string, { user: ShownUser; json: string }>();

/** The user object as JSON, cached per state of the user because lists repeat the same few users. */
export function userJson(app: App, user: ShownUser, portal: Portal | undefined): string {
  const key = `${app.addresses.site} ${user.id} ${portal ?? ''}`;
  const known = cached.get(key);
  if (known && isSameState(known.user, user)) return known.json;
  if (cached.size >= CACHED_MAX) cached.clear();
  const json = JSON.stringify(toUserObject(app, user, portal));
  cached.set(key, { user, json });
  return json;
}

const isSameState = (a: ShownUser, b: ShownUser) =>
  a.username === b.username &&
  a.name_id === b.name_id &&
  a.date_online === b.date_online &&
  a.date_joined === b.date_joined &&
  a.avatar === b.avatar &&
  a.timezone === b.timezone &&
  a.language === b.language &&
  a.portal_names === b.portal_names;
