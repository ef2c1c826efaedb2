import type { StoreAdapter, StorePortal } from './adapter.ts';
import { apple } from './adapters/apple.ts';
import { epicgames } from './adapters/epicgames.ts';
import { google } from './adapters/google.ts';
import { meta } from './adapters/meta.ts';
import { playstation } from './adapters/playstation.ts';
import { steam } from './adapters/steam.ts';
import { xbox } from './adapters/xbox.ts';

export const STORES: Readonly<Record<StorePortal, StoreAdapter>> = {
  apple,
  epicgames,
  google,
  oculus: meta,
  psn: playstation,
  steam,
  xboxlive: xbox,
};
