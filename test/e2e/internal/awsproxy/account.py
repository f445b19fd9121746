"""Serves moto on the port that it is given, with what AWS does otherwise put right (field notes, AWS).

The function's own tests against moto (test/aws) take it as it is. provider-aws does not get along with it.
"""

import sys
import threading

from moto.autoscaling import models as autoscaling
from moto.core.types import Base64EncodedString
from moto.ec2.models import launch_templates
from moto.server import ThreadedMotoServer


def version_user_data(self):
    # A template's second version keeps its user data as text, and an assertion fails as soon as a group launches from it.
    data = self.data.get("UserData")
    return Base64EncodedString(data) if isinstance(data, str) else data


launch_templates.LaunchTemplateVersion.user_data = property(version_user_data)

create_launch_template = launch_templates.LaunchTemplateBackend.create_launch_template


def create_with_its_own_tags(self, name, description, template_data, tag_spec):
    # Tags of the template itself are no part of what it launches with.
    specs = [s for s in template_data.get("TagSpecifications", []) if s["ResourceType"] != "launch-template"]
    template_data = {k: v for k, v in template_data.items() if k != "TagSpecifications"}
    if specs:
        template_data["TagSpecifications"] = specs
    return create_launch_template(self, name, description, template_data, tag_spec)


launch_templates.LaunchTemplateBackend.create_launch_template = create_with_its_own_tags

member_init = autoscaling.InstanceState.__init__


def remember_template(self, *args, **kwargs):
    # A member stays on the template and the version that it was launched from.
    member_init(self, *args, **kwargs)
    group = self.auto_scaling_group
    template = group.ec2_launch_template
    self.launched_from = template and {
        "LaunchTemplateId": template.id,
        "LaunchTemplateName": template.name,
        "Version": str(template.get_version(group.launch_template_version).number),
    }


autoscaling.InstanceState.__init__ = remember_template
autoscaling.InstanceState.launch_template = property(lambda self: self.launched_from)

policy_init = autoscaling.FakeScalingPolicy.__init__


def say_what_it_is(self, *args, **kwargs):
    # A policy is on until someone turns it off, and has no part that it was not given.
    policy_init(self, *args, **kwargs)
    self.enabled = True
    self.predictive_scaling_configuration = self.predictive_scaling_configuration or None


autoscaling.FakeScalingPolicy.__init__ = say_what_it_is

hook_init = autoscaling.LifecycleHook.__init__


def notify_nobody(self, *args, **kwargs):
    # Moto makes up whom a hook notifies.
    hook_init(self, *args, **kwargs)
    self.role_arn = self.notification_target_arn = None


autoscaling.LifecycleHook.__init__ = notify_nobody

launch = autoscaling.FakeAutoScalingGroup.replace_autoscaling_group_instances


def launch_in_turn(self, count_needed, propagated_tags):
    # Moto launches all in the first subnet; AWS evens zones out.
    subnets = self.vpc_zone_identifier.split(",") if self.vpc_zone_identifier else []
    for _ in range(count_needed):
        used = [s.instance._subnet_id for s in self.instance_states]
        self.vpc_zone_identifier = ",".join(sorted(subnets, key=lambda s: (used.count(s), s))) or None
        launch(self, 1, dict(propagated_tags))
    if subnets:
        self.vpc_zone_identifier = ",".join(subnets)


autoscaling.FakeAutoScalingGroup.replace_autoscaling_group_instances = launch_in_turn

delete_group = autoscaling.AutoScalingBackend.delete_auto_scaling_group


def delete_with_its_parts(self, group_name):
    # Policies and hooks go with their group.
    delete_group(self, group_name)
    for parts in (self.policies, self.lifecycle_hooks):
        for key in [k for k, part in parts.items() if part.auto_scaling_group_name == group_name]:
            del parts[key]


autoscaling.AutoScalingBackend.delete_auto_scaling_group = delete_with_its_parts

server = ThreadedMotoServer(ip_address="127.0.0.1", port=int(sys.argv[1]), verbose=False)
server.start()
threading.Event().wait()
