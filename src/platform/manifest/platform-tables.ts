import type { TableTreatments } from './resource.ts';
import { CREDENTIAL, content, left, OWN, rebuilt, SHORT_LIVED } from './treatment.ts';

/** The platform has no manifest. */
export const platformTables: TableTreatments = {
  translations: content(),
  word_variants: rebuilt('the search'),
  made_once: left(SHORT_LIVED),
  facts: left(OWN),
  migrations: left(OWN),
  api_keys: left(CREDENTIAL),
  access_tokens: left(CREDENTIAL),
  service_tokens: left(CREDENTIAL),
  access_epochs: left(CREDENTIAL),
  jobs: left('work of this service; an import starts its own'),
};
