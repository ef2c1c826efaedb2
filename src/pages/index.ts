import type { Page } from '../platform/http/pages.ts';
import { authorizePage } from './authorize.ts';
import { connectPage } from './connect.ts';
import { fragmentScriptPage } from './fragment.ts';
import { linkPage } from './link.ts';
import { mailPreviewPages } from './mail-previews.ts';
import { metadataPage } from './metadata.ts';
import { paymentPage } from './payment.ts';
import { portalPages } from './portal.ts';
import { publicPages } from './public.ts';
import { releasePage } from './release.ts';
import { signInPage } from './sign-in.ts';
import { signOutPage } from './sign-out.ts';
import { lookPage, stylePage } from './style.ts';
import { unsubscribePage } from './unsubscribe.ts';
import { widgetPages } from './widgets.ts';

/** Every page, one per line. */
export const pages: readonly Page[] = [
  authorizePage,
  connectPage,
  fragmentScriptPage,
  linkPage,
  ...mailPreviewPages,
  paymentPage,
  ...portalPages,
  ...publicPages,
  releasePage,
  signInPage,
  signOutPage,
  lookPage,
  stylePage,
  metadataPage,
  unsubscribePage,
  ...widgetPages,
];
