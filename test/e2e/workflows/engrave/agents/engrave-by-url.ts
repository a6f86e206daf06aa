import { remoteAgent } from 'steadfast';
import { engraveByUrl } from '../workflow.ts';

export const handler = remoteAgent(engraveByUrl, { url: { env: 'ENGRAVER_URL' } });
