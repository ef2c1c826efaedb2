import { z } from 'zod';
import type { App } from '../../platform/app.ts';
import { Timestamp } from '../../platform/http/objects.ts';
import { OWN_ACCENT } from './palette.ts';
import type { Look } from './site.ts';

const Colour = z.string().meta({ description: 'Six hexadecimal digits after a #' });

const AccentsObject = z
  .object({
    accent: Colour,
    accent_ink: Colour.meta({ description: 'Readable on the accent' }),
    accent_soft: Colour.meta({ description: 'A background in the tint of the accent, on which texts stay readable' }),
  })
  .meta({ id: 'SiteAccents' });

const SiteIconObject = z
  .object({
    filename: z.string(),
    original: z.string(),
    thumb_64x64: z.string(),
    thumb_128x128: z.string(),
    thumb_256x256: z.string(),
  })
  .meta({ id: 'SiteIcon' });

export const SiteObject = z
  .object({
    name: z.string(),
    summary: z.string().meta({ description: 'One sentence about the site; may be empty.' }),
    accent: Colour.meta({ description: 'The colour as it was chosen' }),
    colors: z.object({ light: AccentsObject, dark: AccentsObject }).meta({
      description: 'Colours of the same hue whose contrast is at least 4.5 to 1 in a light and in a dark scheme',
    }),
    style_url: z.string().nullable().meta({
      description: 'A style sheet with these colours as custom properties; null for those that every site has at first',
    }),
    icon: SiteIconObject.nullable(),
    profile_url: z.string(),
    date_updated: Timestamp.meta({ description: '0 before the first change' }),
  })
  .meta({ id: 'Site' });

/** The style sheet of an accent, whose address names everything that it depends on. */
export const LOOK_PATH = '/look.css';
export const styleUrlOf = ({ addresses }: App, { accent }: Look): string | null =>
  accent === OWN_ACCENT ? null : `${addresses.site}${LOOK_PATH}?accent=${accent.slice(1)}`;

export function toSite(app: App, look: Look): z.input<typeof SiteObject> {
  const { name, summary, accent, palette, icon, dateUpdated } = look;
  return {
    name,
    summary,
    accent,
    colors: palette,
    style_url: styleUrlOf(app, look),
    icon: icon === null ? null : toIcon(app, icon),
    profile_url: app.addresses.site,
    date_updated: dateUpdated,
  };
}

function toIcon({ addresses }: App, folder: string): z.input<typeof SiteIconObject> {
  const at = (name: string) => addresses.file(`${folder}/${name}.png`);
  return {
    filename: 'icon.png',
    original: at('original'),
    thumb_64x64: at('thumb_64x64'),
    thumb_128x128: at('thumb_128x128'),
    thumb_256x256: at('thumb_256x256'),
  };
}
