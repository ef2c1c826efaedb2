import { z } from 'zod';
import { LogoObject, toLogo } from '../../catalogue/games/object.ts';
import { toUserObject, UserObject } from '../../people/users/object.ts';
import type { App } from '../../platform/app.ts';
import { Id, Integer, Timestamp } from '../../platform/http/objects.ts';
import type { Portal } from '../../platform/vocabulary/game-platforms.ts';
import type { StoredGuide } from './store.ts';

export const GuideTagObject = z
  .object({
    name: z.string(),
    date_added: Timestamp,
    count: Integer.meta({ description: 'The number of the game’s public guides with the tag.' }),
  })
  .meta({ id: 'GuideTag' });

const GuideStatsObject = z
  .object({ guide_id: Id, visits_today: Integer, visits_total: Integer, comments_total: Integer })
  .meta({ id: 'GuideStats' });

export const GuideObject = z
  .object({
    id: Id,
    game_id: Id,
    game_name: z.string(),
    logo: LogoObject,
    user: UserObject,
    date_added: Timestamp,
    date_updated: Timestamp,
    date_live: Timestamp,
    status: Integer.meta({ description: '0 not accepted, 1 accepted, 3 deleted' }),
    url: z.string(),
    name: z.string(),
    name_id: z.string(),
    summary: z.string(),
    description: z.string(),
    community_options: Integer.meta({ description: 'Bits: 2048 comments' }),
    tags: z.array(GuideTagObject),
    stats: z.array(GuideStatsObject).meta({ description: 'A list with one item.' }),
  })
  .meta({ id: 'Guide' });

export const toGuide = (app: App, guide: StoredGuide, portal: Portal | undefined): z.input<typeof GuideObject> => ({
  id: guide.guide_id,
  game_id: guide.game_id,
  game_name: guide.game_name,
  logo: toLogo(app, guide.logo),
  user: toUserObject(app, guide, portal),
  date_added: guide.date_added,
  date_updated: guide.date_updated,
  date_live: guide.date_live,
  status: guide.status,
  url: app.addresses.guide(guide.game_name_id, guide.guide_name_id),
  name: guide.name,
  name_id: guide.guide_name_id,
  summary: guide.summary,
  description: guide.description,
  community_options: guide.community_options,
  tags: guide.tags.map(({ name, date_added, count }) => ({ name, date_added, count })),
  stats: [
    {
      guide_id: guide.guide_id,
      visits_today: guide.visits_today,
      visits_total: guide.visits_total,
      comments_total: guide.comments_total,
    },
  ],
});
