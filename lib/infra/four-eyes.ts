/**
 * Refuses a deployment in which no one could give an approval that another person must give.
 *
 * Does not own: which workflows have one (`discover.ts`), who may give it (`scheduler/people.ts`), the routes
 * (`scheduler-api.ts`).
 */

import { HttpNoneAuthorizer, type IHttpRouteAuthorizer } from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpLambdaAuthorizer } from 'aws-cdk-lib/aws-apigatewayv2-authorizers';
import { Validations } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import type { FoundWorkflow } from './discovery.ts';
import type { SteadfastProps } from './steadfast-props.ts';

const vouchesForNobody = (authorizer: IHttpRouteAuthorizer | undefined): boolean =>
  authorizer instanceof HttpNoneAuthorizer || authorizer instanceof HttpLambdaAuthorizer;

/** @throws Error if the API would refuse every answer to such an approval */
export function checkFourEyes(
  scope: Construct,
  workflows: readonly FoundWorkflow[],
  { api, authorizer, callbackAuthorizer }: Pick<SteadfastProps, 'api' | 'authorizer' | 'callbackAuthorizer'>,
): void {
  const names = workflows.filter((one) => one.asksAnother === true).map(({ name }) => `'${name}'`);
  if (names.length === 0) return;
  const whose = `workflow ${names.join(', ')} has an approval that must be another person's (by: 'another')`;
  if (api === 'none')
    throw new Error(
      `${whose}, and with api: 'none' nobody says who calls, so no answer would be accepted; leave api out`,
    );
  const which = callbackAuthorizer === undefined ? 'authorizer' : 'callbackAuthorizer';
  if (vouchesForNobody(callbackAuthorizer ?? authorizer))
    throw new Error(
      `${whose}, and ${which} does not identify callers, so no answer would be accepted; give it an HttpIamAuthorizer, an HttpJwtAuthorizer or an HttpUserPoolAuthorizer`,
    );
  if (callbackAuthorizer === undefined || callbackAuthorizer === authorizer) return;
  Validations.of(scope).addWarning(
    'steadfast:fourEyes',
    `${whose}, and answers use another authorizer than starts: somebody who can pass both counts as two people. Leave callbackAuthorizer out, or make sure that nobody can pass both`,
  );
}
