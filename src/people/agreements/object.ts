import { z } from 'zod';
import type { App } from '../../platform/app.ts';
import { Id, Integer, Timestamp } from '../../platform/http/objects.ts';
import type { Portal } from '../../platform/vocabulary/game-platforms.ts';
import { toUserObject, UserObject } from '../users/object.ts';
import type { AcceptanceRow, ShownVersion } from './agreements.ts';

const TYPES =
  '1 terms of use, 2 privacy, 3 games, 4 API, 5 monetization, 6 acceptable use, 7 cookies, 8 refunds, 9 direct debit';

const AdjacentVersion = z.object({ id: Id, date_live: Timestamp }).nullable();

const AgreementUserObject = UserObject.extend({ id: z.int().min(0) }).meta({
  id: 'AgreementUser',
  description: 'The author of the version. For versions that come with the service, `id` is 0.',
});

export const AgreementVersionObject = z
  .object({
    id: Id,
    is_active: z.boolean().meta({ description: 'Whether it is in force.' }),
    is_latest: z.boolean().meta({ description: 'Whether no later version has come into force.' }),
    type: Integer.meta({ description: TYPES }),
    user: AgreementUserObject,
    date_added: Timestamp,
    date_updated: Timestamp,
    date_live: Timestamp.meta({ description: 'Unix seconds since when it is in force, 0 for a draft' }),
    name: z.string(),
    changelog: z.string(),
    description: z.string(),
    adjacent_versions: z
      .object({ previous: AdjacentVersion, next: AdjacentVersion })
      .meta({ description: 'The previous and the next version that have been in force.' }),
  })
  .meta({ id: 'AgreementVersion' });

export const AgreementAcceptanceObject = z
  .object({
    id: Id,
    agreement_version_id: Id,
    type: Integer.meta({ description: TYPES }),
    name: z.string(),
    is_active: z.boolean().meta({ description: 'Whether this version is still in force.' }),
    game_id: Integer.meta({ description: 'The game that the acceptance is limited to, 0 for none' }),
    date_added: Timestamp,
  })
  .meta({ id: 'AgreementAcceptance' });

const Link = z.object({ text: z.string(), url: z.string(), required: z.boolean() });
const Button = z.object({ text: z.string() });

export const TermsObject = z
  .object({
    plaintext: z.string(),
    html: z.string(),
    buttons: z.object({ agree: Button, disagree: Button }),
    links: z.object({
      website: Link,
      terms: Link,
      privacy: Link,
      refund: Link,
      monetization: Link,
      manage: Link,
    }),
  })
  .meta({ id: 'Terms' });

type Author = Parameters<typeof toUserObject>[1];

const THE_SERVICE: Author = {
  id: 0,
  name_id: 'modstead',
  username: 'Modstead',
  date_online: 0,
  date_joined: 0,
  avatar: null,
  timezone: '',
  language: 'en',
  portal_names: '{}',
};

export function toAgreementVersion(
  app: App,
  version: ShownVersion,
  portal: Portal | undefined,
): z.input<typeof AgreementVersionObject> {
  const { id, type, date_added, date_updated, date_live, name, changelog, description } = version;
  const author = version.user_id === null ? THE_SERVICE : ({ ...version, id: version.user_id } as Author);
  return {
    id,
    is_active: version.is_active === 1,
    is_latest: date_live > 0 && version.next_id === null,
    type,
    user: toUserObject(app, author, portal),
    date_added,
    date_updated,
    date_live,
    name,
    changelog,
    description,
    adjacent_versions: {
      previous: toAdjacent(version.previous_id, version.previous_date_live),
      next: toAdjacent(version.next_id, version.next_date_live),
    },
  };
}

const toAdjacent = (id: number | null, date_live: number | null) =>
  id === null || date_live === null ? null : { id, date_live };

export function toAcceptance(acceptance: AcceptanceRow): z.input<typeof AgreementAcceptanceObject> {
  const { id, version_id, type, name, is_active, game_id, date_added } = acceptance;
  return { id, agreement_version_id: version_id, type, name, is_active: is_active === 1, game_id, date_added };
}
