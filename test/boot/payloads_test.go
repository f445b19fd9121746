//go:build boot

package boot

import (
	"bytes"
	"compress/gzip"
)

// joinToken is the secret of every payload here.
const joinToken = "abcdef.0123456789abcdef"

// kubeadmPayload is shaped as Cluster API's kubeadm provider writes it. What it runs leaves a line per run.
const kubeadmPayload = `#cloud-config

write_files:
-   path: /run/kubeadm/kubeadm-join-config.yaml
    owner: root:root
    permissions: '0640'
    content: |
      ---
      apiVersion: kubeadm.k8s.io/v1beta4
      kind: JoinConfiguration
      discovery:
        bootstrapToken:
          token: ` + joinToken + `
-   path: /var/lib/boots/written
    append: true
    content: |
      written
runcmd:
  - "echo joined with $(grep -c token: /run/kubeadm/kubeadm-join-config.yaml) token >> /var/lib/boots/ran"
`

// jinjaPayload is the same as a template, as Cluster API writes it where the node's name comes from the metadata.
const jinjaPayload = `## template: jinja
#cloud-config

write_files:
-   path: /run/kubeadm/kubeadm-join-config.yaml
    permissions: '0640'
    content: |
      name: {{ v1.instance_id }}
      raw: {% raw %}{{ not.rendered }}{% endraw %} as it is
      token: ` + joinToken + `
runcmd:
  - "mkdir -p /var/lib/boots && cp /run/kubeadm/kubeadm-join-config.yaml /var/lib/boots/rendered"
`

func gzipped(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		panic(err)
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return b.String()
}
